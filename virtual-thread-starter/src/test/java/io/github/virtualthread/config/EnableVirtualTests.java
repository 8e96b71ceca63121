package io.github.virtualthread.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.aop.VirtualThreadBeanPostProcessor;
import io.github.virtualthread.execution.Deadline;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Plain Spring, without Spring Boot. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class EnableVirtualTests {

    @Test
    void aBeanOfSettingsDeclaresALimit() throws Exception {
        try (var context = new AnnotationConfigApplicationContext(Plain.class, Prices.class)) {
            Thread thread = context.getBean(Prices.class).thread().get(2, TimeUnit.MINUTES);

            assertThat(thread.isVirtual()).isTrue();
            assertThat(thread.getName()).isEqualTo("vt-Prices.thread-1");
            assertThat(context.getBean(TaskLimits.class).get("db").permits()).isEqualTo(3);
        }
    }

    @Test
    void aKeyIsReadByAnAnnotationOfTheApplicationToo() {
        try (var context =
                new AnnotationConfigApplicationContext(PlainBackground.class, AnotherDb.class, Tenants.class)) {
            TaskLimit db = context.getBean(TaskLimits.class).get("db");

            assertThat(context.getBean(Tenants.class).running("acme", db).join())
                    .isEqualTo(1);
        }
    }

    @Test
    void aDeadlineNeedsNoProperties(CapturedOutput output) throws Exception {
        try (var context = new AnnotationConfigApplicationContext(Plain.class, Partner.class)) {
            assertThat(context.getBean(Partner.class).left().get(2, TimeUnit.MINUTES))
                    .hasValueSatisfying(
                            left -> assertThat(left).isBetween(Duration.ofMinutes(50), Duration.ofMinutes(60)));
        }
        try (var context = new AnnotationConfigApplicationContext(PlainBackground.class, AnotherDb.class, Own.class)) {
            assertThat(context.getBean(Own.class).left().get(2, TimeUnit.MINUTES))
                    .hasValueSatisfying(
                            left -> assertThat(left).isBetween(Duration.ofMinutes(50), Duration.ofMinutes(60)));
        }

        assertThat(output)
                .containsOnlyOnce("Partner.left has a deadline of 1h, but limit 'db' has an unbounded queue")
                .doesNotContain("Own.left has");
    }

    @Test
    void withoutTheAnnotationNothingHappens() throws Exception {
        try (var context = new AnnotationConfigApplicationContext(Prices.class)) {
            assertThat(context.getBean(Prices.class).thread()).isCompletedWithValue(Thread.currentThread());
        }
    }

    @Test
    void itsAttributesReachThePostProcessor() {
        try (var context = new AnnotationConfigApplicationContext(Special.class, Stock.class, Prices.class)) {
            assertThat(context.getBean(VirtualThreadBeanPostProcessor.class).getOrder())
                    .isEqualTo(3);
            assertThat(AopUtils.isCglibProxy(context.getBean(Counting.class))).isTrue();
            assertThat(context.getBean(Counting.class).count().join().isVirtual())
                    .isTrue();
            assertThat(AopUtils.isAopProxy(context.getBean(Prices.class))).isFalse();
        }
    }

    @Test
    void aBeanWithInterfacesGetsAnInterfaceProxyUnlessAskedOtherwise() {
        try (var context = new AnnotationConfigApplicationContext(PlainBackground.class, Stock.class)) {
            assertThat(AopUtils.isJdkDynamicProxy(context.getBean(Counting.class)))
                    .isTrue();
        }
    }

    @Test
    void theSameAnnotationTwiceIsOne() {
        try (var context = new AnnotationConfigApplicationContext(Plain.class, PlainAgain.class)) {
            assertThat(context.getBeansOfType(VirtualThreadBeanPostProcessor.class))
                    .hasSize(1);
        }
    }

    @Test
    void aLimitDeclaredByTwoBeansFailsTheStart() {
        assertThatThrownBy(() -> new AnnotationConfigApplicationContext(Plain.class, AnotherDb.class))
                .isInstanceOf(VirtualThreadConfigurationException.class)
                .hasMessage(
                        "Limit 'Db' is declared by two beans: 'db' as db (3 permits, unbounded queue, unbounded wait)"
                                + " and 'otherDb' as Db (5 permits, unbounded queue, unbounded wait). Remove one of the beans, or"
                                + " give its limit another name.");
    }

    @Configuration(proxyBeanMethods = false)
    @EnableVirtual
    static class Plain {

        @Bean
        LimitSettings db() {
            return LimitSettings.of("db", 3);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableVirtual
    static class PlainAgain {}

    @Configuration(proxyBeanMethods = false)
    @EnableVirtual(annotation = Background.class, order = 3, proxyTargetClass = true)
    static class Special {}

    @Configuration(proxyBeanMethods = false)
    @EnableVirtual(annotation = Background.class)
    static class PlainBackground {}

    @Configuration(proxyBeanMethods = false)
    static class AnotherDb {

        @Bean
        LimitSettings otherDb() {
            return LimitSettings.of("Db", 5);
        }
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface Background {

        String limit() default "";

        String deadline() default "";

        String key() default "";
    }

    static class Tenants {

        @Background(limit = "db", key = "#tenant")
        public CompletableFuture<Integer> running(String tenant, TaskLimit limit) {
            return CompletableFuture.completedFuture(limit.key(tenant).running());
        }
    }

    static class Partner {

        @VirtualThread(limit = "db", deadline = "1h")
        public CompletableFuture<Optional<Duration>> left() {
            return CompletableFuture.completedFuture(Deadline.remaining());
        }
    }

    static class Own {

        @Background(deadline = "1h")
        public CompletableFuture<Optional<Duration>> left() {
            return CompletableFuture.completedFuture(Deadline.remaining());
        }
    }

    interface Counting {
        CompletableFuture<Thread> count();
    }

    static class Stock implements Counting {

        @Override
        @Background
        public CompletableFuture<Thread> count() {
            return CompletableFuture.completedFuture(Thread.currentThread());
        }
    }

    static class Prices {

        @VirtualThread("db")
        public CompletableFuture<Thread> thread() {
            return CompletableFuture.completedFuture(Thread.currentThread());
        }
    }
}
