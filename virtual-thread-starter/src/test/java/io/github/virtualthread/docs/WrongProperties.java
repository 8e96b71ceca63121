package io.github.virtualthread.docs;

import io.github.virtualthread.docs.StartUpChecksPageTests.Case;
import io.github.virtualthread.docs.StartUpChecksPageTests.Mailer;
import io.github.virtualthread.docs.StartUpChecksPageTests.Nothing;
import io.github.virtualthread.docs.StartUpChecksPageTests.OnServlets;
import io.github.virtualthread.docs.StartUpChecksPageTests.OnWebFlux;
import java.util.concurrent.ExecutorService;
import java.util.stream.Stream;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;

/** Mistakes that are in application.yml alone, each kind once. */
final class WrongProperties {

    private static final String MAILER = Mailer.class.getName();

    private WrongProperties() {}

    static Stream<Case> cases() {
        return Stream.of(
                        outOfRange(),
                        atTheDoor(),
                        ofExecutors(),
                        strayKeys(),
                        ofAnotherType(),
                        unknownKeys(),
                        ofMethods(),
                        whereNoneShouldBe())
                .flatMap(each -> each);
    }

    private static Stream<Case> ofExecutors() {
        return Stream.of(
                wrong("executor-limit", "limits.mail.permits=4", "async.executors.mailExecutor=mial"),
                new Case(
                        "executor-kinds",
                        Executors.class,
                        "limits.mail.permits=4",
                        "async.executors.mail=mail",
                        "async.executors.pool=mail",
                        "async.executors.scheduler=mail"),
                wrong(
                        "executor-twice",
                        "limits.mail.permits=4",
                        "async.limit=none",
                        "async.executors.applicationTaskExecutor=mail"),
                wrong("executor-map", "async.executors=mail"));
    }

    @Configuration(proxyBeanMethods = false)
    static class Executors {

        @Bean
        Mailer mail() {
            return new Mailer();
        }

        @Bean
        ExecutorService pool() {
            return java.util.concurrent.Executors.newCachedThreadPool();
        }

        @Bean
        TaskScheduler scheduler() {
            return new SimpleAsyncTaskScheduler();
        }
    }

    private static Stream<Case> outOfRange() {
        return Stream.of(
                wrong("negative-permits", "limits.db.permits=-1"),
                wrong("negative-wait", "limits.db.permits=20", "limits.db.max-wait=-2s"),
                wrong("adapt-without-bounds", "limits.db.permits=20", "limits.db.adapt.least=4"),
                wrong(
                        "adapt-of-all-replicas",
                        "limits.db.cluster-permits=20",
                        "limits.db.adapt.least=4",
                        "limits.db.adapt.most=80",
                        "limits.db.adapt.run-time=150ms"),
                wrong("weight", "limits.api.permits=20", "limits.api.key-weights.gold=1000"),
                wrong("negative-timeout", "timeout=-1s"),
                wrong("rejected-status", "web.rejected-status=200"),
                wrong("timed-out-status", "web.timed-out-status=200"),
                wrong("negative-retry", "web.retry-after=-1s"));
    }

    private static Stream<Case> atTheDoor() {
        String virtual = "spring.threads.virtual.enabled=true";
        return Stream.of(
                new Case("door-unknown", OnServlets.class, virtual, "limits.web.permits=200", "web.limit=wbe"),
                new Case("door-unbounded", OnServlets.class, virtual, "limits.web.permits=200", "web.limit=web"),
                new Case(
                        "door-unbounded-with-deadline",
                        OnServlets.class,
                        virtual,
                        "limits.web.permits=200",
                        "web.limit=web",
                        "web.deadline=5s"),
                new Case(
                        "door-platform-threads",
                        OnServlets.class,
                        "limits.web.permits=200",
                        "limits.web.queue-capacity=400",
                        "web.limit=web"),
                new Case("door-deadline", OnServlets.class, "web.deadline=0s"),
                new Case("door-exclude", OnServlets.class, "web.deadline=5s", "web.exclude=/events/**,/orders/{id"),
                new Case("door-order", OnServlets.class, "web.deadline=5s", "web.order=first"),
                new Case("door-key", OnServlets.class, "web.deadline=5s", "web.key=client-adress"),
                new Case("door-reactive", OnWebFlux.class, "limits.web.permits=200", "web.limit=web"));
    }

    private static Stream<Case> strayKeys() {
        return Stream.of(
                wrong("near-prefix", "spring.virtual-threads.limits.db.permits=20"),
                wrong("near-prefix-enabled", "spring.virtual-threads.enabled=true"),
                wrong("limits-at-the-root", "limits.db.permits=20"),
                wrong("blank-in-name", "limits.my db.permits=20"),
                wrong("letters-in-name", "limits.größe.permits=20"));
    }

    private static Stream<Case> ofAnotherType() {
        return Stream.of(
                wrong("no-number", "limits.db.permits=many"),
                wrong("large-number", "limits.db.permits=99999999999"),
                wrong("no-capacity", "limits.db.permits=20", "limits.db.queue-capacity=unbounded"),
                wrong("no-number-per-key", "limits.db.permits=20", "limits.db.permits-per-key=many"),
                wrong("no-weight", "limits.api.permits=20", "limits.api.key-weights.gold=much"),
                wrong("no-weights", "limits.api.permits=20", "limits.api.key-weights=3"),
                wrong("no-duration", "limits.db.permits=20", "limits.db.max-wait=2 seconds"),
                wrong("no-unit", "limits.db.permits=20", "limits.db.max-wait=2"),
                wrong("no-timeout", "timeout=soon"),
                wrong("nested", "limits.db.permits=20", "limits.db.nested=reject"),
                wrong("self-invocation", "self-invocation=fial"),
                wrong("no-boolean", "propagation.mdc=maybe"),
                wrong("blank-boolean", "enabled="),
                wrong("no-value", "limits.db.permits=${db.permits}"));
    }

    private static Stream<Case> unknownKeys() {
        return Stream.of(
                wrong("unknown-top-key", "defualt-limit=db"),
                wrong("unknown-group", "limit.db.permits=20"),
                wrong("swapped-letters", "limits.db.premits=20"),
                wrong("far-top-key", "pool=20"),
                wrong("unknown-group-key", "shutdown.await-termination=10s"));
    }

    private static Stream<Case> ofMethods() {
        return Stream.of(
                wrong("unknown-method-key", "methods[com.acme.Mailer.send].limt=mail"),
                new Case(
                        "unknown-method",
                        Mailer.class,
                        "limits.mial.permits=1",
                        "methods[%s.sned].limit=mial".formatted(MAILER)),
                wrong("no-method", "methods.send.limit=mail"),
                new Case(
                        "method-of-no-limit",
                        Mailer.class,
                        "limits.mail.permits=1",
                        "methods[%s.send].limit=mial".formatted(MAILER)),
                new Case(
                        "method-timeout",
                        Mailer.class,
                        "limits.mial.permits=1",
                        "methods[%s.send].timeout=0s".formatted(MAILER)),
                new Case(
                        "method-deadline",
                        Mailer.class,
                        "limits.mial.permits=1",
                        "methods[%s.send].deadline=-1s".formatted(MAILER)),
                new Case(
                        "timeout-of-limited",
                        StartUpChecksPageTests.Counter.class,
                        "limits.bd.permits=1",
                        "methods[%s.count].timeout=1s".formatted(StartUpChecksPageTests.Counter.class.getName())));
    }

    private static Stream<Case> whereNoneShouldBe() {
        return Stream.of(
                wrong("not-indented", "limits.permits=20"),
                wrong("list-of-limits", "limits[0].name=db", "limits[0].permits=20"),
                wrong("empty-methods", "methods="),
                wrong("empty-method", "methods[com.acme.Mailer.send]="),
                wrong("group-value", "shutdown=30s"),
                wrong("key-below-a-value", "enabled.mdc=true"));
    }

    private static Case wrong(String name, String... keys) {
        return new Case(name, Nothing.class, keys);
    }
}
