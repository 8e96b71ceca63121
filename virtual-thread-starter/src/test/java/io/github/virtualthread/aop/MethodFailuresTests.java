package io.github.virtualthread.aop;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.virtualthread.VirtualThread;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.aop.MethodBeforeAdvice;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.context.support.PropertySourcesPlaceholderConfigurer;

/** Where the failures of annotated methods go. */
@Timeout(300)
class MethodFailuresTests extends InterceptedMailer {

    @Test
    void aCallBeforeTheCheckThatNamesAnUnknownLimitFailsItsCaller() {
        try (TestContext context = TestContext.of(Misspelt.class)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> context.getBean(Misspelt.class).send())
                    .withMessageContaining("mial");
        }
    }

    static class Misspelt {
        @VirtualThread("mial")
        Future<Void> send() {
            return completedFuture(null);
        }
    }

    @Test
    void anUnresolvablePlaceholderFailsTheCallWithAndWithoutAConfigurer() {
        for (Class<?>[] components :
                new Class<?>[][] {{Mailer.class}, {Mailer.class, PropertySourcesPlaceholderConfigurer.class}}) {
            try (TestContext context = TestContext.of(components)) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() ->
                                context.getBean(Mailer.class).configured(new CountDownLatch(0), new CountDownLatch(0)))
                        .withMessageContaining("the.limit");
            }
        }
    }

    @Test
    void declaredAndUncheckedExceptionsComeOutAsTheyAre() throws Exception {
        try (TestContext context = TestContext.of(Mailer.class)) {
            Mailer mailer = context.getBean(Mailer.class);

            assertThat(failure(mailer.failing(() -> {
                        throw new IOException("declared");
                    })))
                    .isExactlyInstanceOf(IOException.class);
            assertThat(failure(mailer.failing(() -> {
                        throw new ArithmeticException();
                    })))
                    .isExactlyInstanceOf(ArithmeticException.class);
        }
    }

    @Test
    void aSneakyCheckedExceptionComesOutUnwrapped() {
        try (TestContext context = TestContext.of(Mailer.class)) {
            Throwable failure = failure(context.getBean(Mailer.class).sneaky(() -> {
                throw new IOException("sneaky");
            }));

            assertThat(failure).isExactlyInstanceOf(IOException.class).hasMessage("sneaky");
        }
    }

    @Test
    void aWrapperThatTheBodyGotFromAnotherProxyIsItsOwnException() {
        InvocationHandler thrower = (self, method, args) -> {
            throw new IOException("inner");
        };
        Runnable other = (Runnable)
                Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {Runnable.class}, thrower);
        try (TestContext context = TestContext.of(Mailer.class)) {
            Mailer mailer = context.getBean(Mailer.class);

            assertThat(failure(mailer.sneaky(() -> {
                        other.run();
                        return null;
                    })))
                    .isExactlyInstanceOf(UndeclaredThrowableException.class);
            assertThat(failure(mailer.sneaky(() -> sneakyClassProxy().call())))
                    .isExactlyInstanceOf(UndeclaredThrowableException.class);
        }
    }

    private static Sneaky sneakyClassProxy() {
        ProxyFactory factory = new ProxyFactory(new Sneaky());
        factory.setProxyTargetClass(true);
        factory.addAdvice((MethodBeforeAdvice) (method, args, target) -> {});
        return (Sneaky) factory.getProxy();
    }

    static class Sneaky {
        public Object call() {
            throw Mailer.<RuntimeException>hidden(new IOException("inner"));
        }
    }

    @Test
    void aFailureOfAVoidMethodGoesToTheHandlerWithMethodAndArguments() throws Exception {
        try (TestContext context = TestContext.of(Mailer.class, Handler.class)) {
            context.getBean(Mailer.class).broken("a");

            assertThat(context.getBean(Handler.class).failure()).isEqualTo("broken[a] no a");
        }
    }
}
