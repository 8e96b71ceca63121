package io.github.virtualthread.config;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.virtualthread.aop.Findings;
import io.github.virtualthread.aop.Findings.AdvisedMethod;
import io.github.virtualthread.aop.MethodSettings;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.PermitsFrom;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.timer.TaskTimer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import net.bytebuddy.ByteBuddy;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class StartupReportTests {

    private static final String SECURITY = "org.springframework.security.core.context.SecurityContextHolder";
    private static final String CONTEXT_REGISTRY = "io.micrometer.context.ContextSnapshotFactory";

    private final Logger logger = (Logger) LoggerFactory.getLogger(StartupReport.class);
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();

    @BeforeEach
    void listen() {
        log.start();
        logger.addAppender(log);
    }

    @AfterEach
    void stopListening() {
        logger.detachAppender(log);
        logger.setLevel(null);
    }

    @Test
    void unboundedWaitingIsNamed() {
        report(EngineSettings.DEFAULTS, Set.of(), LimitSettings.of("db", 20).withQueueCapacity(5));

        assertThat(messages(Level.INFO))
                .singleElement()
                .asString()
                .contains("1 annotated method, 1 of them without a limit")
                .contains("limits db (20 permits, queue of 5, unbounded wait)")
                .contains("propagated: MDC");
    }

    @Test
    void switchedOffPropagationIsNamed() {
        EngineSettings nothing = nothing();

        report(nothing, Set.of());

        assertThat(messages(Level.INFO))
                .singleElement()
                .asString()
                .contains("no limits")
                .contains("propagated: nothing");
    }

    @Test
    void authenticationThatDoesNotTravelIsAWarning() {
        report(nothing(), Set.of(SECURITY));

        assertThat(messages(Level.WARN))
                .containsExactly("Spring Security's authentication is not propagated to virtual threads because"
                        + " virtual-thread.propagation.context is false");
    }

    @Test
    void authenticationTravelsByItself() {
        report(EngineSettings.DEFAULTS, Set.of(SECURITY));

        assertThat(messages(Level.WARN)).isEmpty();
        assertThat(messages(Level.INFO)).singleElement().asString().contains("propagated: MDC, authentication");
    }

    @Test
    void theMethodsAreListedAtDebug() {
        logger.setLevel(Level.DEBUG);

        report(EngineSettings.DEFAULTS, Set.of());

        assertThat(messages(Level.DEBUG)).containsExactly("com.acme.Mailer.send: no limit");
    }

    @Test
    void whatLiesWithinAnotherAndWhatEachKeyMayTakeIsNamed() {
        report(
                EngineSettings.DEFAULTS,
                Set.of(),
                LimitSettings.of("db", 20),
                LimitSettings.of("partner", 40).withPermitsPerKey(5).withQueueCapacityPerKey(50),
                LimitSettings.of("report", 8).withWithin("db"));

        assertThat(messages(Level.INFO))
                .first()
                .asString()
                .contains("partner (40 permits, 5 per key, unbounded queue, 50 per key, unbounded wait)")
                .contains("report (8 permits, within db, unbounded queue, unbounded wait)");
        assertThat(messages(Level.WARN)).isEmpty();
    }

    @Test
    void numbersWithoutEffectAreWarnings() {
        report(
                EngineSettings.DEFAULTS,
                Set.of(),
                LimitSettings.of("db", 20),
                LimitSettings.of("partner", 4)
                        .withPermitsPerKey(4)
                        .withQueueCapacity(10)
                        .withQueueCapacityPerKey(11),
                LimitSettings.of("report", 21).withWithin("db"));

        assertThat(messages(Level.WARN))
                .containsExactly(
                        "Limit 'partner' has permits-per-key: 4 and permits: 4, so one key can take all of them. Lower"
                                + " virtual-thread.limits.partner.permits-per-key, or remove it",
                        "Limit 'partner' has queue-capacity-per-key: 11 and queue-capacity: 10, so one key can take all of"
                                + " them. Lower virtual-thread.limits.partner.queue-capacity-per-key, or remove it",
                        "Limit 'report' has 21 permits, but lies within 'db', which has 20: at most 20 of its calls run at"
                                + " once. Lower virtual-thread.limits.report.permits, or raise virtual-thread.limits.db.permits");
    }

    @Test
    void limitsThatOnlyWatchAreOneWarning() {
        report(
                EngineSettings.DEFAULTS,
                Set.of(),
                LimitSettings.of("db", 20).withDryRun(true),
                LimitSettings.of("mail", 5),
                LimitSettings.of("partner.api", 1).withDryRun(true));

        assertThat(messages(Level.WARN))
                .containsExactly("Dry run of 'db' (20 permits), 'partner.api' (1 permit): all calls begin at once, and"
                        + " nothing protects what they use. Read dryRun at the endpoint virtualthreads, choose a number,"
                        + " and remove virtual-thread.limits.db.dry-run,"
                        + " virtual-thread.limits.\"[partner.api]\".dry-run");
    }

    @Test
    void numbersOfAPoolMayBeOthersElsewhere() {
        report(
                EngineSettings.DEFAULTS,
                Set.of(),
                LimitSettings.of("db", 20)
                        .withPermitsFrom(new PermitsFrom("dataSource", 0))
                        .withPermitsPerKey(20),
                LimitSettings.of("report", 21).withWithin("db"));

        assertThat(messages(Level.WARN)).isEmpty();
    }

    @Test
    void permitsPerKeyWithoutAKeyAreNamed() {
        LimitSettings partner = LimitSettings.of("partner", 40).withPermitsPerKey(5);
        LimitSettings db = LimitSettings.of("price-db", 20).withPermitsPerKey(2);
        AdvisedMethod withKey =
                new AdvisedMethod("com.acme.Prices.find", "Prices.find", "priceDb", null, null, "#shop", false);
        AdvisedMethod withoutKey =
                new AdvisedMethod("com.acme.Partner.ask", "Partner.ask", "partner", null, null, null, false);

        report(
                EngineSettings.DEFAULTS,
                Set.of(),
                List.of(withKey, withoutKey),
                partner,
                db,
                LimitSettings.of("mail", 3));

        assertThat(messages(Level.INFO))
                .filteredOn(message -> message.contains("has a key"))
                .containsExactly(
                        "Limit 'partner' has permits-per-key: 5, but no annotated method under it has a key: the number"
                                + " applies only to calls of VirtualThreads.forKey, and to web requests with a key");
    }

    @Test
    void aTimeoutThatIsNotShorterThanTheDeadlineIsNamed() {
        report(
                withTimeout(Duration.ofSeconds(30)),
                Set.of(),
                List.of(
                        timed("Shop.own", null, Duration.ofSeconds(5), Duration.ofSeconds(2)),
                        timed("Shop.equal", null, Duration.ofSeconds(2), Duration.ofSeconds(2)),
                        timed("Shop.shorter", null, Duration.ofSeconds(1), Duration.ofSeconds(2)),
                        timed("Shop.byDefault", null, Duration.ofSeconds(30), Duration.ofSeconds(2)),
                        timed("Shop.onlyTimeout", null, Duration.ofSeconds(30), null),
                        timed("Shop.onlyDeadline", null, null, Duration.ofSeconds(2))));

        assertThat(messages(Level.WARN))
                .containsExactly(
                        "com.acme.Shop.own has a deadline of 2s and a timeout of 5s: the deadline bounds wait and run"
                                + " together, so the timeout never comes. Shorten the timeout, or remove it",
                        "com.acme.Shop.equal has a deadline of 2s and a timeout of 2s: the deadline bounds wait and run"
                                + " together, so the timeout never comes. Shorten the timeout, or remove it");
    }

    @Test
    void aDeadlineUnderALimitWithoutBoundsIsNamed() {
        LimitSettings unbounded = LimitSettings.of("price-db", 20);
        Duration deadline = Duration.ofMillis(1500);

        report(
                EngineSettings.DEFAULTS,
                Set.of(),
                List.of(
                        timed("Shop.price", "priceDb", null, deadline),
                        timed("Shop.stock", "price-db", Duration.ofSeconds(30), null),
                        timed("Shop.mail", "mail", null, deadline),
                        timed("Shop.quote", "partner", null, deadline),
                        timed("Shop.search", "search", null, deadline),
                        timed("Shop.free", null, null, deadline)),
                unbounded,
                LimitSettings.of("mail", 3).withQueueCapacity(50),
                LimitSettings.of("partner", 3).withMaxWait(Duration.ofSeconds(1)),
                LimitSettings.of("search", 3).withRejectHopeless(true));

        assertThat(messages(Level.WARN))
                .containsExactly(
                        "com.acme.Shop.price has a deadline of 1.5s, but limit 'price-db' has an unbounded queue and"
                                + " no max-wait: calls queue up that cannot be done in time. Set"
                                + " virtual-thread.limits.price-db.reject-hopeless to true, or"
                                + " virtual-thread.limits.price-db.queue-capacity to about half of permits x deadline / run time,"
                                + " which is 20 x 1.5s / run time / 2");
    }

    @Test
    void aQueueThatOneKeyCanFillIsNamedWhereKeysHaveWeights() {
        LimitSettings api = LimitSettings.of("api", 20).withKeyWeights(Map.of("gold", 3.0));

        report(
                EngineSettings.DEFAULTS,
                Set.of(),
                List.of(),
                api.withQueueCapacity(100),
                LimitSettings.of("equal", 20).withQueueCapacity(100));
        report(EngineSettings.DEFAULTS, Set.of(), List.of(), api);
        report(
                EngineSettings.DEFAULTS,
                Set.of(),
                List.of(),
                api.withQueueCapacity(100).withQueueCapacityPerKey(20));

        assertThat(messages(Level.WARN))
                .containsExactly("Limit 'api' has key-weights and a queue of 100 that one key can fill: set"
                        + " virtual-thread.limits.api.queue-capacity-per-key");
    }

    private static AdvisedMethod timed(
            String name, @Nullable String limit, @Nullable Duration timeout, @Nullable Duration deadline) {
        return new AdvisedMethod("com.acme." + name, name, limit, timeout, deadline, null, false);
    }

    private static EngineSettings withTimeout(Duration timeout) {
        EngineSettings defaults = EngineSettings.DEFAULTS;
        return new EngineSettings(
                new MethodSettings(null, timeout, Map.of()),
                defaults.threadNamePrefix(),
                defaults.mdc(),
                defaults.mdcKeys(),
                defaults.registeredContext(),
                defaults.awaitTermination(),
                defaults.selfInvocation(),
                defaults.callerTrace(),
                defaults.saturatedAfter(),
                defaults.stuckAfter(),
                defaults.cluster(),
                defaults.limits(),
                defaults.mistakes());
    }

    private static void report(EngineSettings settings, Set<String> classPath, LimitSettings... limits) {
        report(
                settings,
                classPath,
                List.of(new AdvisedMethod("com.acme.Mailer.send", "Mailer.send", null, null, null, null, false)),
                limits);
    }

    private static void report(
            EngineSettings settings, Set<String> classPath, List<AdvisedMethod> methods, LimitSettings... limits) {
        try (TaskTimer timer = new TaskTimer("timer")) {
            StartupReport report = new StartupReport(settings, new OnlyThese(classPath), List::of);
            TaskLimits made = new TaskLimits(List.of(limits), timer, change -> {});
            report.log(new Findings(List.of(), methods, List.of()), made, true, List.of());
            report.logNumbers(made, methods);
        }
    }

    private static EngineSettings nothing() {
        return new EngineSettings(
                MethodSettings.NONE,
                "vt-",
                false,
                List.of(),
                false,
                Duration.ZERO,
                SelfInvocation.WARN,
                false,
                EngineSettings.DEFAULTS.saturatedAfter(),
                EngineSettings.DEFAULTS.stuckAfter(),
                null,
                List.of(),
                List.of());
    }

    private List<String> messages(Level level) {
        return log.list.stream()
                .filter(event -> event.getLevel() == level)
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }

    /** Stands for a class path on which exactly these classes of others are. */
    private static final class OnlyThese extends ClassLoader {

        private final Set<String> names;

        OnlyThese(Set<String> names) {
            super(null);
            this.names = names;
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            if (!names.contains(name)) {
                throw new ClassNotFoundException(name);
            }
            byte[] empty =
                    new ByteBuddy().subclass(Object.class).name(name).make().getBytes();
            return defineClass(name, empty, 0, empty.length);
        }
    }
}
