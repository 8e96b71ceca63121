package io.github.virtualthread.sample.page;

import io.github.virtualthread.sample.partner.Review;
import io.github.virtualthread.sample.request.RanOn;
import java.math.BigDecimal;
import java.util.List;

/**
 * The product page.
 *
 * @param tookMillis from the request's arrival to the page's last part
 * @param request where the request was served
 */
record ProductPage(
        long id,
        long tookMillis,
        RanOn request,
        Part<BigDecimal> price,
        Part<Integer> stock,
        Part<List<Review>> reviews) {}
