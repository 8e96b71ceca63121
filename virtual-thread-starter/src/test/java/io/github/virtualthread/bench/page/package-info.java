/** What the benchmarks found, and the page that is made from it. Needs no JMH: {@code mvn verify} holds the page against it. */
@NullMarked
package io.github.virtualthread.bench.page;

import org.jspecify.annotations.NullMarked;
