package io.github.virtualthread.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import ch.qos.logback.classic.Level;
import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.aop.Findings.AdvisedMethod;
import io.github.virtualthread.mistake.Mistake;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.stream.Stream;
import kotlin.coroutines.Continuation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.Scheduled;

@Timeout(300)
class LimitedChecksTests {

    private static final String HERE = LimitedChecksTests.class.getName() + "$";

    @Test
    void anyReturnTypeIsRightAndCounts() {
        try (Logs logs = new Logs();
                TestContext context = TestContext.of(Right.class)) {
            Findings findings = context.check();

            assertThat(logs.messages(Level.WARN)).isEmpty();

            assertThat(findings.mistakes()).isEmpty();
            assertThat(findings.methods())
                    .extracting(AdvisedMethod::method, AdvisedMethod::limit)
                    .containsExactly(tuple(HERE + "Right.count", "mail"), tuple(HERE + "Right.nothing", "mail"));
        }
    }

    static class Right {
        @Limited("mail")
        int count() {
            return 1;
        }

        @Limited("mail")
        @Scheduled(fixedDelay = 1)
        void nothing() {}
    }

    @Test
    void aLimitMustBeNamedAlsoWhereThereIsADefault() {
        try (TestContext context = TestContext.of(Unnamed.class)) {
            assertThat(context.check("mail").mistakes())
                    .containsExactly(
                            new Mistake(
                                    "@Limited on " + HERE + "Unnamed.empty names no limit, and the default limit does"
                                            + " not apply to @Limited",
                                    "Name one, as in @Limited(\"db\"), or remove @Limited."),
                            new Mistake(
                                    "@Limited on " + HERE + "Unnamed.none names no limit, and the default limit does"
                                            + " not apply to @Limited",
                                    "Name one, as in @Limited(\"db\"), or remove @Limited."));
        }
    }

    static class Unnamed {
        @Limited
        void empty() {}

        @Limited("none")
        void none() {}
    }

    @Test
    void anUnknownLimitIsNamedWithTheNearestKnownOne() {
        assertThat(TestContext.mistakesOf(Misspelt.class))
                .containsExactly(new Mistake(
                        HERE + "Misspelt.find asks for limit 'mial', but the configured limits are [mail, report]",
                        "Did you mean 'mail'? Correct @Limited on " + HERE
                                + "Misspelt.find, or set virtual-thread.limits.mial.permits."));
    }

    static class Misspelt {
        @Limited("mial")
        String find() {
            return "";
        }
    }

    @Test
    void bothAnnotationsOnOneMethodOrOneClassAreAMistake() {
        assertThat(TestContext.mistakesOf(Both.class)).containsExactly(both("Both.later"));
        assertThat(TestContext.mistakesOf(BothOnClass.class)).containsExactly(both("BothOnClass"));
    }

    private static Mistake both(String place) {
        return new Mistake(
                HERE + place + " has both @VirtualThread and @Limited; @VirtualThread already names the limit",
                "Remove @Limited, or remove @VirtualThread if the method is meant to run on its caller's thread.");
    }

    static class Both {
        @Limited("mail")
        @VirtualThread("mail")
        void later() {}
    }

    @Limited("mail")
    @VirtualThread("mail")
    static class BothOnClass {
        public void one() {}

        public void two() {}
    }

    @Test
    void ofBothInAHierarchyTheNearerApplies() {
        try (TestContext context = TestContext.of(LimitedSender.class, VirtualStore.class)) {
            assertThat(context.check().mistakes()).isEmpty();

            Thread caller = Thread.currentThread();
            assertThat(context.getBean(LimitedSender.class).send()).isCompletedWithValue(caller);
            assertThat(context.getBean(VirtualStore.class).store().join()).isNotSameAs(caller);
            assertThat(context.getBean(VirtualStore.class).find()).isSameAs(caller);
        }
    }

    interface Sender {
        @VirtualThread
        CompletableFuture<Thread> send();
    }

    static class LimitedSender implements Sender {
        @Override
        @Limited("mail")
        public CompletableFuture<Thread> send() {
            return CompletableFuture.completedFuture(Thread.currentThread());
        }
    }

    @Limited("mail")
    static class Store {
        public CompletableFuture<Thread> store() {
            return CompletableFuture.completedFuture(Thread.currentThread());
        }

        public Thread find() {
            return Thread.currentThread();
        }
    }

    @VirtualThread
    static class VirtualStore extends Store {
        @Override
        public CompletableFuture<Thread> store() {
            return super.store();
        }
    }

    @Test
    void whatCannotBeLimitedIsAMistake() {
        assertThat(TestContext.mistakesOf(Wrong.class))
                .extracting(Mistake::description)
                .containsExactly(
                        HERE
                                + "Wrong.async has both @Async and @Limited: the permit would be returned before the work begins",
                        HERE
                                + "Wrong.fixed has @Limited, but is final: calls bypass the proxy and would take no permit",
                        HERE + "Wrong.suspending is a suspending function, which @Limited does not support");
        assertThat(TestContext.mistakesOf(BeanMethod.class))
                .extracting(Mistake::description)
                .containsExactly(HERE + "BeanMethod.text is a @Bean method; @Limited would advise the configuration"
                        + " class, not the bean");
    }

    static class Wrong {
        @Async
        @Limited("mail")
        void async() {}

        @Limited("mail")
        final void fixed() {}

        @Limited("mail")
        Object suspending(Continuation<String> continuation) {
            return "";
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class BeanMethod {
        @Bean
        @Limited("mail")
        String text() {
            return "";
        }
    }

    @Test
    void aFinalClassIsNamedWithItsAnnotations() {
        assertThat(TestContext.mistakesOf(Closed.class))
                .extracting(Mistake::description)
                .containsExactly(HERE + "Closed has methods with @VirtualThread and @Limited, but cannot be"
                        + " proxied, because it is final");
    }

    static final class Closed {
        @Limited("mail")
        void one() {}

        @VirtualThread
        void two() {}
    }

    @Test
    void aMethodThatReturnsAFutureIsWarnedOf() {
        try (Logs logs = new Logs();
                TestContext context = TestContext.of(Futures.class)) {
            assertThat(context.check().mistakes()).isEmpty();

            assertThat(logs.messages(Level.WARN))
                    .containsExactly(
                            HERE + "Futures.future has @Limited and returns CompletableFuture: the permit covers the"
                                    + " method, not the work that continues after it has returned. Use @VirtualThread, or return"
                                    + " the value itself",
                            HERE + "Futures.publisher has @Limited and returns Publisher: the permit covers the"
                                    + " method, not the work that continues after it has returned. Use @VirtualThread, or return"
                                    + " the value itself");
        }
    }

    static class Futures {
        @Limited("mail")
        CompletableFuture<String> future() {
            return CompletableFuture.completedFuture("");
        }

        @Limited("mail")
        Flow.Publisher<String> publisher() {
            return subscriber -> {};
        }

        @Limited("mail")
        Stream<String> stream() {
            return Stream.of();
        }
    }

    @Test
    void aContradictionIsOneMistakeAmongTheOthersAlsoOnAVoidMethod() {
        List<Mistake> mistakes = TestContext.mistakesOf(Contradictions.class, Misspelt.class);

        assertThat(mistakes).hasSize(3);
        assertThat(mistakes.get(0).description())
                .startsWith("@Limited on " + HERE + "Contradictions.limited contradicts itself");
        assertThat(mistakes.get(1).description())
                .startsWith("@VirtualThread on " + HERE + "Contradictions.virtual contradicts itself");
        assertThat(mistakes.get(2).description()).contains("asks for limit 'mial'");
    }

    static class Contradictions {
        @Limited(value = "mail", limit = "report")
        void limited() {}

        @Scheduled(fixedDelay = 1)
        @VirtualThread(value = "mail", limit = "report")
        void virtual() {}
    }
}
