package io.github.virtualthread.autoconfigure;

import static io.github.virtualthread.autoconfigure.Contexts.mistakes;
import static java.util.concurrent.CompletableFuture.completedFuture;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.aop.Findings.AdvisedMethod;
import io.github.virtualthread.config.EngineBeans;
import io.github.virtualthread.execution.Deadline;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.Mistake;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

@Timeout(300)
class MethodPropertiesTests {

    private static final String HERE = MethodPropertiesTests.class.getName() + "$";

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class))
            .withPropertyValues("virtual-thread.limits.db.permits=1", "virtual-thread.limits.mail.permits=1");

    @Test
    void thePropertyReplacesTheLimitOfBothAnnotations() {
        runner.withBean(Mailer.class)
                .withPropertyValues(
                        key("Mailer.free", "limit=mail"),
                        key("Mailer.later", "limit= "),
                        key("Mailer.count", "limit=mail"))
                .run(context -> {
                    Mailer mailer = context.getBean(Mailer.class);
                    TaskLimit mail = context.getBean(TaskLimits.class).get("mail");

                    assertThat(mailer.free(mail))
                            .succeedsWithin(Duration.ofMinutes(2))
                            .isEqualTo(0);
                    assertThat(mailer.later(mail))
                            .succeedsWithin(Duration.ofMinutes(2))
                            .isEqualTo(1);
                    assertThat(mailer.count(mail)).isZero();
                });
    }

    @Test
    void thePropertyLiftsTheLimitOfBothAnnotations() {
        runner.withBean(Mailer.class)
                .withPropertyValues(key("Mailer.later", "limit=none"), key("Mailer.count", "limit=none"))
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    Mailer mailer = context.getBean(Mailer.class);
                    TaskLimit db = context.getBean(TaskLimits.class).get("db");

                    assertThat(mailer.later(db))
                            .succeedsWithin(Duration.ofMinutes(2))
                            .isEqualTo(1);
                    assertThat(mailer.count(db)).isEqualTo(1);
                });
    }

    @Test
    void thePropertyReplacesTheTimeout() {
        runner.withBean(Mailer.class)
                .withPropertyValues(key("Mailer.hang", "timeout=10ms"))
                .run(context -> assertThat(context.getBean(Mailer.class).hang())
                        .failsWithin(Duration.ofMinutes(2))
                        .withThrowableThat()
                        .withCauseInstanceOf(TimeoutException.class));
    }

    @Test
    void thePropertyReplacesTheDeadlineOfBothAnnotations() {
        runner.withBean(Mailer.class)
                .withPropertyValues(
                        key("Mailer.left", "deadline=1h"),
                        key("Mailer.inPlace", "deadline=2h"),
                        key("Mailer.inherited", "deadline=3h"))
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    Mailer mailer = context.getBean(Mailer.class);

                    assertThat(mailer.left())
                            .succeedsWithin(Duration.ofMinutes(2))
                            .satisfies(left -> assertLeft(left, Duration.ofHours(1)));
                    assertLeft(mailer.inPlace(), Duration.ofHours(2));
                    assertThat(context.getBean(EngineBeans.class).advised())
                            .extracting(AdvisedMethod::name, AdvisedMethod::deadline)
                            .contains(
                                    tuple("Mailer.left", Duration.ofHours(1)),
                                    tuple("Mailer.inPlace", Duration.ofHours(2)),
                                    tuple("Mailer.inherited", Duration.ofHours(3)),
                                    tuple("Mailer.hang", null));
                });
    }

    private static void assertLeft(Optional<Duration> left, Duration deadline) {
        assertThat(left)
                .hasValueSatisfying(it -> assertThat(it).isBetween(deadline.minus(Duration.ofMinutes(10)), deadline));
    }

    @Test
    void aKeyThatNamesASuperclassOfTheBeanMatchesNothing() {
        assertThat(mistakes(runner.withBean(Mailer.class).withPropertyValues(key("Base.inherited", "limit=mail"))))
                .extracting(Mistake::action)
                .containsExactly("Did you mean '" + HERE + "Mailer.inherited'?");
    }

    @Test
    void aClientWithoutAClassIsNamedByTheInterfaceThatDeclaresTheMethod() {
        for (boolean lazy : new boolean[] {false, true}) {
            for (Supplier<Partner> client :
                    List.<Supplier<Partner>>of(MethodPropertiesTests::client, MethodPropertiesTests::clientOfSpring)) {
                runner.withBean(Partner.class, client, definition -> definition.setLazyInit(lazy))
                        .withPropertyValues(key("Client.count", "limit=mail"), key("Partner.again", "limit=mail"))
                        .run(context -> {
                            assertThat(context).hasNotFailed();
                            TaskLimit mail = context.getBean(TaskLimits.class).get("mail");

                            assertThat(context.getBean(Partner.class).count(mail))
                                    .isZero();
                            assertThat(context.getBean(Partner.class).again(mail))
                                    .isZero();
                        });
            }
        }
    }

    /** As Feign makes them. */
    private static Partner client() {
        return (Partner) Proxy.newProxyInstance(
                Partner.class.getClassLoader(),
                new Class<?>[] {Partner.class},
                (self, method, arguments) -> ((TaskLimit) arguments[0]).available());
    }

    /** As Spring makes them of HTTP interfaces. */
    private static Partner clientOfSpring() {
        return ProxyFactory.getProxy(Partner.class, (MethodInterceptor)
                invocation -> ((TaskLimit) invocation.getArguments()[0]).available());
    }

    interface Client {

        @Limited("db")
        int count(TaskLimit limit);

        @Limited("db")
        int again(TaskLimit limit);
    }

    interface Partner extends Client {

        @Override
        int again(TaskLimit limit);
    }

    @Test
    void aMethodOfAClassThatIsNoBeanHereMayBeNamed() {
        runner.withPropertyValues(key("Mailer.hang", "limit=mail"))
                .run(context -> assertThat(context).hasNotFailed());
    }

    private static String key(String method, String value) {
        return "virtual-thread.methods[" + HERE + method + "]." + value;
    }

    static class Base {

        @VirtualThread
        public CompletableFuture<String> inherited() {
            return completedFuture("");
        }
    }

    static class Mailer extends Base {

        @VirtualThread
        public CompletableFuture<Integer> free(TaskLimit limit) {
            return completedFuture(limit.available());
        }

        @VirtualThread("db")
        public CompletableFuture<Integer> later(TaskLimit limit) {
            return completedFuture(limit.available());
        }

        @Limited("db")
        public int count(TaskLimit limit) {
            return limit.available();
        }

        @VirtualThread(deadline = "1ms")
        public CompletableFuture<Optional<Duration>> left() {
            return completedFuture(Deadline.remaining());
        }

        @Limited(value = "db", deadline = "1ms")
        public Optional<Duration> inPlace() {
            return Deadline.remaining();
        }

        @VirtualThread(timeout = "1m")
        public CompletableFuture<String> hang() {
            return new CompletableFuture<>();
        }
    }
}
