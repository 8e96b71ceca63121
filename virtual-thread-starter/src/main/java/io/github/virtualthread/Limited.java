package io.github.virtualthread;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.core.annotation.AliasFor;

/**
 * Runs the annotated method under a limit, on the thread of its caller, which waits there for a permit.
 *
 * <p>For blocking code that is on a virtual thread already, such as a web request or the body of a method with
 * {@link VirtualThread}. The method may have any return type. Calls share permits, queue and order with those of
 * {@code @VirtualThread} methods that name the same limit. The permit is taken before transactions and all other advice
 * begin, and goes back when they have ended. Where the method returns a future, the permit covers only the method itself.
 *
 * <p>If the caller's thread holds a permit of the limit, or of one within it, the method runs at once under that permit. It is
 * a part of the call that holds the permit.
 *
 * <p>Otherwise the call blocks until it has its permit: at most for the {@code max-wait} of the limit; where it has none, on a
 * platform thread at most 30 seconds. It throws:
 *
 * <ul>
 *   <li>{@link io.github.virtualthread.limit.LimitExceededException} if the limit refuses the call or the wait was too long
 *   <li>{@link InterruptedException} if the thread is interrupted while it waits, and the method declares that or a
 *       superclass of it
 *   <li>{@link java.util.concurrent.CancellationException}, with the interrupt flag set again, if the method does not
 *   <li>whatever the method throws
 * </ul>
 *
 * <p>On a class or an interface it covers the public methods declared there, also those that Spring calls, such as that of a
 * converter; callbacks in the life of the bean, such as {@code afterPropertiesSet}, are left out. The annotation of a method
 * replaces that of its class as a whole, {@link VirtualThread} included. A method, or a class, has one of both, not both. It
 * may be used as a meta-annotation.
 *
 * <pre>{@code
 * @Limited("db")
 * Price price(long id) {
 *     return prices.find(id);
 * }
 * }</pre>
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface Limited {

    /**
     * Name of the limit, as in {@code virtual-thread.limits.<name>}. It must be named here: the default limit does not
     * apply, and {@code "none"} is a mistake. May be a {@code ${...}} placeholder.
     *
     * @return name of a configured limit
     */
    @AliasFor("limit")
    String value() default "";

    /**
     * Same as {@link #value()}, for use beside other attributes.
     *
     * @return name of a configured limit
     */
    @AliasFor("value")
    String limit() default "";

    /**
     * Time that a call has, from when it is made. If it is over before the call has its permit, the call fails with a {@link
     * io.github.virtualthread.limit.LimitExceededException} for the reason {@code DEADLINE}. The method is not interrupted; calls
     * that it makes have what is left, or their own deadline if that is earlier. Written as {@code "2s"}, {@code "500ms"} or
     * {@code "PT2S"}, more than zero; a number alone fails the start. May be a {@code ${...}} placeholder.
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
     * call fails with an {@link IllegalArgumentException}. May contain {@code ${...}} placeholders.
     *
     * @return an expression, or empty for calls without a key
     */
    String key() default "";

    /**
     * Name of the call in messages and meters; empty for {@code Class.method}. May be a {@code ${...}} placeholder.
     *
     * @return name of the call, or empty
     */
    String name() default "";
}
