/**
 * Benchmarks of the starter beside what it is compared with. Compiled and run by {@code mvn verify -Pbench} only, in
 * {@code src/bench}: with the starter's jar and the newest Spring Boot. The page {@code docs/performance.md} is made from
 * what they find.
 */
@NullMarked
package io.github.virtualthread.bench;

import org.jspecify.annotations.NullMarked;
