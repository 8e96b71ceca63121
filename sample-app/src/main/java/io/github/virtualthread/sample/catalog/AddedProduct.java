package io.github.virtualthread.sample.catalog;

import io.github.virtualthread.sample.request.RanOn;

/**
 * Answer to a new product.
 *
 * @param request where the request was served
 * @param event where the event was handled
 */
record AddedProduct(long id, long tookMillis, RanOn request, RanOn event) {}
