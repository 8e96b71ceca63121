package io.github.virtualthread;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.core.annotation.AliasFor;

/**
 * Runs the annotated method on a virtual thread of its own; the call returns at once.
 *
 * <p>The method returns {@code void}, {@link java.util.concurrent.Future}, {@link java.util.concurrent.CompletionStage}
 * or {@link java.util.concurrent.CompletableFuture}; any other return type fails the start of the application. A method
 * that returns a future hands every outcome over through it: value, exception, cancellation, rejection. What a
 * {@code void} method throws goes to the application's
 * {@link org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler}, else to the log.
 *
 * <p>On a class or an interface it covers the public methods declared there, also those that Spring calls, such as
 * {@code onApplicationEvent}; callbacks in the life of the bean, such as {@code afterPropertiesSet}, are left out. The
 * annotation of a method replaces that of its class as a whole; attributes are not merged. It may be used as a
 * meta-annotation.
 *
 * <p>The calling thread is never blocked, whatever the limit: a call that finds no permit waits as an object in a first-in,
 * first-out queue and gets its thread together with its permit.
 *
 * <pre>{@code
 * @VirtualThread("db")
 * CompletableFuture<Price> price(long id) {
 *     return completedFuture(prices.find(id));
 * }
 * }</pre>
 *
 * @see <a href="https://openjdk.org/jeps/444">JEP 444: virtual threads are not pooled, they are bounded by semaphores</a>
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface VirtualThread {

    /**
     * Name of the limit that bounds the method, as in {@code virtual-thread.limits.<name>}; empty for the default limit
     * if there is one, {@code "none"} for no limit at all. May be a {@code ${...}} placeholder.
     *
     * @return name of a configured limit, {@code "none"}, or empty
     */
    @AliasFor("limit")
    String value() default "";

    /**
     * Same as {@link #value()}, for use beside other attributes.
     *
     * @return name of a configured limit, {@code "none"}, or empty
     */
    @AliasFor("value")
    String limit() default "";

    /**
     * Longest run of the body, from its start; the time that the call waits for its permit does not count. Then the body is
     * interrupted, and the call fails with a {@link io.github.virtualthread.limit.CallTimeoutException}; its permit goes back when
     * the body has really ended. Written as {@code "2s"}, {@code "500ms"} or {@code "PT2S"}, more than zero; a number alone fails
     * the start. May be a {@code ${...}} placeholder.
     *
     * @return a duration, or empty for that of {@code virtual-thread.timeout}, if there is one
     */
    String timeout() default "";

    /**
     * Time that a call has from its submission, for its wait and its run together. A call that still waits when it is over leaves
     * the queue and fails with a {@link io.github.virtualthread.limit.LimitExceededException} for the reason {@code DEADLINE}. A
     * body that still runs is interrupted, and the call fails with a {@link io.github.virtualthread.limit.CallTimeoutException}. Calls
     * that the body makes have what is left, or their own deadline if that is earlier; {@code void} methods do not inherit it. Written as
     * {@code "2s"}, {@code "500ms"} or {@code "PT2S"}, more than zero; a number alone fails the start. May be a {@code ${...}}
     * placeholder.
     *
     * @return a duration, or empty for that of the caller, if there is one
     * @see io.github.virtualthread.execution.Deadline
     */
    String deadline() default "";

    /**
     * Whose call it is, such as a tenant or a customer. Under one limit, keys take turns, and {@code permits-per-key} bounds the
     * calls of each of them. Written as an expression of Spring (SpEL) over the arguments: {@code "#tenant"}, {@code "#p0"} or
     * {@code "#order.customer.id"}. Names of parameters are those of the annotated method, and need the compiler option
     * {@code -parameters}. The value is read as text when the method is called, on the caller's thread. If it is null, the
     * call fails with an {@link IllegalArgumentException}. Without a limit, a key has no effect. May contain {@code ${...}} placeholders.
     *
     * @return an expression, or empty for calls without a key
     */
    String key() default "";

    /**
     * Name of the task in threads, logs and meters; empty for {@code Class.method}. May be a {@code ${...}} placeholder.
     *
     * @return name of the task, or empty
     */
    String name() default "";
}
