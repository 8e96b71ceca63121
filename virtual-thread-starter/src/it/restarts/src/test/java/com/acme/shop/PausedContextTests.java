package com.acme.shop;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Import;
import org.springframework.core.SpringVersion;
import org.springframework.test.context.TestContextManager;

/** Spring 7 stops a context while tests use another one. */
@Timeout(300)
class PausedContextTests {

    @Test
    void callsGoOnInAContextThatIsNotInUse() throws Exception {
        TestContextManager manager = new TestContextManager(One.class);
        One one = use(manager, new One());
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        CompletableFuture<String> running = one.prices.hold(begun, end);
        CompletableFuture<String> waiting = one.prices.ofTea();
        assertThat(begun.await(120, SECONDS)).isTrue();
        manager.afterTestClass();

        TestContextManager otherManager = new TestContextManager(Other.class);
        Other other = use(otherManager, new Other());
        assertThat(one.background.isRunning())
                .isEqualTo(SpringVersion.getVersion().startsWith("6."));
        assertThat(other.prices.ofTea()).succeedsWithin(120, SECONDS).isEqualTo("7 EUR");
        assertThat(running).isNotDone();
        assertThat(waiting).isNotDone();
        end.countDown();
        assertThat(running).succeedsWithin(120, SECONDS).isEqualTo("let go");
        assertThat(waiting).succeedsWithin(120, SECONDS).isEqualTo("7 EUR");
        otherManager.afterTestClass();

        One again = use(new TestContextManager(One.class), new One());
        assertThat(again.prices).isSameAs(one.prices);
        assertThat(again.background.isRunning()).isTrue();
        assertThat(again.prices.ofTea()).succeedsWithin(120, SECONDS).isEqualTo("7 EUR");
    }

    private static <T> T use(TestContextManager manager, T test) throws Exception {
        manager.beforeTestClass();
        manager.prepareTestInstance(test);
        return test;
    }

    @SpringBootTest(properties = "spring.application.name=one")
    @Import(Background.class)
    static class One {

        @Autowired
        Prices prices;

        @Autowired
        Background background;
    }

    @SpringBootTest(properties = "spring.application.name=other")
    static class Other {

        @Autowired
        Prices prices;
    }

    /** Shows whether its context is paused. */
    static class Background implements SmartLifecycle {

        private volatile boolean running;

        @Override
        public void start() {
            running = true;
        }

        @Override
        public void stop() {
            running = false;
        }

        @Override
        public boolean isRunning() {
            return running;
        }
    }
}
