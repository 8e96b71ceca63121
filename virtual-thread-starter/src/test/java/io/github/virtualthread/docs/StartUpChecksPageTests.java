package io.github.virtualthread.docs;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.aop.WithoutParameterNames;
import io.github.virtualthread.autoconfigure.VirtualThreadAsyncAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadClusterAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadDoorAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadWebFluxAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadWebMvcAutoConfiguration;
import io.github.virtualthread.config.EnableVirtual;
import io.github.virtualthread.docs.Pages.Block;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.PermitsSource;
import jakarta.annotation.PostConstruct;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.sql.DataSource;
import kotlin.coroutines.Continuation;
import org.aspectj.lang.ProceedingJoinPoint;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.AbstractApplicationContextRunner;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.FailureHandler;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jms.annotation.JmsListener;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;

/**
 * A user who searches for a message finds it: the page, or the file beside the tests that it links, has what an application
 * really says. The page has one example of each kind, the file all others. After a change of messages
 * {@code -Dstart-up-checks.write=true} writes the reports of both anew.
 */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class StartUpChecksPageTests {

    private static final Path PAGE = Pages.ROOT.resolve("docs/start-up-checks.md");
    private static final Path MORE =
            Pages.ROOT.resolve("virtual-thread-starter/src/test/resources/more-start-up-reports.md");
    private static final boolean WRITES = Boolean.getBoolean("start-up-checks.write");
    private static final Pattern MISTAKES = Pattern.compile("<!-- mistakes: (.+) -->\n```text\n[^`]*```");
    private static final Map<String, String> WRITTEN = new ConcurrentHashMap<>();

    private static final ApplicationContextRunner RUNNER = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    VirtualThreadAutoConfiguration.class,
                    VirtualThreadAsyncAutoConfiguration.class,
                    VirtualThreadClusterAutoConfiguration.class));

    static Stream<Case> mistakes() {
        return Stream.of(annotationsAndLimits(), WrongProperties.cases(), WrongCluster.cases())
                .flatMap(each -> each);
    }

    private static Stream<Case> annotationsAndLimits() {
        return Stream.of(
                new Case("unknown-limit", Mailer.class, "limits.mail.permits=1", "limits.report.permits=1"),
                new Case("no-limits", Mailer.class),
                new Case("annotation-with-a-blank", Prices.class, "limits.price-db.permits=1"),
                new Case("placeholder", Reports.class),
                new Case("contradiction", Contradiction.class, "limits.mail.permits=1"),
                new Case("unnamed-limit", Stock.class, "limits.db.permits=1"),
                new Case("both", Both.class, "limits.mail.permits=1"),
                new Case("bad-timeout", Slow.class),
                new Case("timeout-without-unit", Quick.class),
                new Case("bad-deadline", Late.class, "limits.db.permits=1"),
                new Case("deadline-without-unit", Soon.class),
                new Case("key-unreadable", Invoices.class, "limits.mail.permits=1"),
                new Case("key-parameter", Refunds.class, "limits.mail.permits=1"),
                new Case("key-position", Parcels.class, "limits.mail.permits=1"),
                new Case("key-names", WithoutParameterNames.of(Letters.class), "limits.mail.permits=1"),
                new Case("key-sign", Vouchers.class, "limits.mail.permits=1"),
                new Case("key-method", Coupons.class, "limits.mail.permits=1"),
                new Case("key-bean", Returns.class, "limits.mail.permits=1"),
                new Case("key-property", Notes.class, "limits.mail.permits=1"),
                new Case("unknown-limited", Counter.class, "limits.db.permits=1"),
                new Case("self-invocation-fail", Newsroom.class, "self-invocation=fail"),
                new Case("life-cycle-fail", Cache.class, "self-invocation=fail"),
                new Case("timeout-property", Nothing.class, "timeout=0s"),
                new Case("return-type", Catalog.class),
                new Case("return-type-class", Inventory.class),
                new Case("suspend", Suspending.class),
                new Case("async", Newsletter.class),
                new Case("private", PrivateMethod.class),
                new Case("static", StaticMethod.class),
                new Case("final", FinalMethod.class),
                new Case("final-class", FinalClass.class),
                new Case("record", RecordClass.class),
                new Case("sealed-class", SealedClass.class),
                new Case("no-interface", OfInterface.class, "spring.aop.proxy-target-class=false"),
                new Case("bean-method", BeanMethod.class),
                new Case("too-early", TooEarly.class),
                new Case("two-enable-virtual", TwoEnableVirtual.class),
                new Case("no-weaver", Mailer.class, "mode=aspectj", "limits.mial.permits=1"),
                new Case("no-aspectj", NoAspectJ.class, "mode=aspectj"),
                new Case("not-woven", NotWoven.class, "mode=aspectj", "limits.mial.permits=1"),
                new Case("annotated-above", AnnotatedAbove.class, "mode=aspectj"),
                new Case("unknown-annotation", UnknownAnnotation.class),
                new Case("woven-and-proxied", WovenAndProxied.class, "mode=aspectj"),
                new Case("two-beans", TwoBeans.class),
                new Case(
                        "unknown-within",
                        Nothing.class,
                        "limits.db.permits=20",
                        "limits.report.permits=8",
                        "limits.report.within=bd"),
                new Case("within-itself", Nothing.class, "limits.report.permits=8", "limits.report.within=report"),
                new Case(
                        "within-each-other",
                        Nothing.class,
                        "limits.a.permits=8",
                        "limits.a.within=b",
                        "limits.b.permits=8",
                        "limits.b.within=a"),
                new Case(
                        "pool-within",
                        Pool.class,
                        "limits.db.permits-from=dataSource",
                        "limits.report.permits-from=dataSource",
                        "limits.report.within=db"),
                new Case("within-alone", Nothing.class, "limits.report.permits=8", "limits.report.within=db"),
                new Case(
                        "within-none",
                        Nothing.class,
                        "limits.db.permits=20",
                        "limits.report.permits=8",
                        "limits.report.within=none"),
                new Case("no-permits", Nothing.class, "limits.db.queue-capacity=100"),
                new Case(
                        "bad-values",
                        Nothing.class,
                        "limits.db.permits=0",
                        "limits.db.queue-capacity=-1",
                        "limits.db.max-wait=0s",
                        "limits.db.permits-per-key=0",
                        "limits.db.queue-capacity-per-key=-1"),
                new Case("both-permits", Pool.class, "limits.db.permits=20", "limits.db.permits-from=dataSource"),
                new Case("no-pool-bean", Pool.class, "limits.db.permits-from=dataSorce"),
                new Case("not-a-pool", Pool.class, "limits.db.permits-from=cache"),
                new Case("unknown-pool", Pool.class, "limits.db.permits-from=reporting"),
                new Case("headroom", Pool.class, "limits.db.permits-from=dataSource", "limits.db.headroom=10"),
                new Case("negative-headroom", Pool.class, "limits.db.permits-from=dataSource", "limits.db.headroom=-1"),
                new Case("headroom-alone", Nothing.class, "limits.db.permits=20", "limits.db.headroom=2"),
                new Case("failing-source", Pool.class, "limits.partner.permits-from=broken"),
                new Case("empty-source", Pool.class, "limits.partner.permits-from=empty"),
                new Case("reserved-name", Nothing.class, "limits.none.permits=1"),
                new Case("bad-name", Nothing.class, "limits[price db].permits=1"),
                new Case("default-limit", Nothing.class, "limits.common.permits=8", "default-limit=comon"),
                new Case("default-limit-alone", Nothing.class, "default-limit=common"),
                new Case(
                        "default-limit-with-a-blank", Nothing.class, "limits.db.permits=8", "default-limit=price list"),
                new Case("negative-period", Nothing.class, "shutdown.await-termination-period=-1s"),
                new Case("several", Mailer.class, "limits.mail.permits=0"),
                new Case("unknown-key", Nothing.class, "limits.db.permit=20"),
                new Case("dotted-name", Nothing.class, "limits.partner.api.permits=10"),
                new Case("dotted-method", Nothing.class, "methods.com.acme.Mailer.send.limit=mail"),
                new Case("empty-limits", Nothing.class, "limits="),
                new Case("empty-limit", Nothing.class, "limits.db="));
    }

    @ParameterizedTest
    @MethodSource("mistakes")
    void theReportIsOnThePage(Case mistake) {
        runner(mistake.type()).withPropertyValues(mistake.properties()).run(context -> {
            String report = report(context.getStartupFailure());
            if (WRITES) {
                WRITTEN.put(mistake.name(), report);
            } else {
                assertThat(report).isEqualTo(reports().get(mistake.name()));
            }
        });
    }

    @AfterAll
    static void writeTheReports() throws IOException {
        for (Path file : WRITES ? List.of(PAGE, MORE) : List.<Path>of()) {
            Files.writeString(file, MISTAKES.matcher(Files.readString(file)).replaceAll(block -> {
                String reports = names(block.group(1)).map(WRITTEN::get).collect(joining("\n\n"));
                return Matcher.quoteReplacement(
                        "<!-- mistakes: %s -->\n```text\n%s\n```".formatted(block.group(1), reports));
            }));
        }
    }

    private static AbstractApplicationContextRunner<?, ?, ?> runner(Class<?> type) {
        AutoConfigurations web = AutoConfigurations.of(
                VirtualThreadAutoConfiguration.class,
                VirtualThreadDoorAutoConfiguration.class,
                VirtualThreadWebMvcAutoConfiguration.class,
                VirtualThreadWebFluxAutoConfiguration.class);
        if (type == OnServlets.class) {
            return new WebApplicationContextRunner().withConfiguration(web);
        }
        if (type == OnWebFlux.class) {
            return new ReactiveWebApplicationContextRunner().withConfiguration(web);
        }
        ApplicationContextRunner runner = RUNNER.withUserConfiguration(type);
        if (type == WrongCluster.WithoutRedis.class) {
            return runner.withClassLoader(new FilteredClassLoader("org.springframework.data.redis"));
        }
        return type == NoAspectJ.class
                ? runner.withClassLoader(new FilteredClassLoader(ProceedingJoinPoint.class))
                : runner;
    }

    @Test
    void thePageHasNoOtherReports() {
        List<String> known = mistakes().map(Case::name).toList();
        List<String> shown =
                blocks("mistakes").flatMap(block -> names(block.argument())).toList();

        assertThat(blocks("mistakes"))
                .allSatisfy(block -> assertThat(names(block.argument()).filter(name -> !known.contains(name)))
                        .as("%s: reports of no case", block.where())
                        .isEmpty());
        assertThat(known).allSatisfy(name -> assertThat(Collections.frequency(shown, name))
                .as("lines <!-- mistakes: %s --> in %s", name, Pages.ROOT.relativize(MORE))
                .isEqualTo(1));
    }

    @Test
    void theLineOfTheStartIsOnThePage(CapturedOutput output) {
        RUNNER.withUserConfiguration(Orders.class)
                .withPropertyValues(
                        "virtual-thread.limits.db.permits=20",
                        "virtual-thread.limits.partner.permits=10",
                        "virtual-thread.limits.partner.queue-capacity=50",
                        "virtual-thread.limits.partner.max-wait=2s")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).contains(page("log", "start"));
    }

    @Test
    void theWarningOfSettingsWithoutEffectIsOnThePage(CapturedOutput output) {
        RUNNER.withPropertyValues("virtual-thread.async.limit=none", "spring.task.execution.pool.core-size=4")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).contains(page("log", "executor-settings"));
    }

    @Test
    void theWarningOfALifeCycleCallbackIsOnThePage(CapturedOutput output) {
        RUNNER.withUserConfiguration(Cache.class)
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(named(output.getAll())).contains(page("log", "life-cycle"));
    }

    @Test
    void theWarningsOfNumbersWithoutEffectAreOnThePage(CapturedOutput output) {
        RUNNER.withPropertyValues(
                        "virtual-thread.limits.db.permits=20",
                        "virtual-thread.limits.report.permits=30",
                        "virtual-thread.limits.report.within=db",
                        "virtual-thread.limits.partner.permits=40",
                        "virtual-thread.limits.partner.permits-per-key=40")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).contains(page("log", "more-than-around")).contains(page("log", "per-key-without-effect"));
    }

    @Test
    void theWarningsOfSharedLimitsAreOnThePage(CapturedOutput output) {
        RUNNER.withUserConfiguration(EmbeddedPool.class)
                .withPropertyValues(
                        "spring.application.name=shop",
                        "virtual-thread.limits.partner.cluster-permits=2",
                        "virtual-thread.limits.partner.permits=1",
                        "virtual-thread.cluster.replicas=3",
                        "virtual-thread.limits.db.permits-from=dataSource")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output)
                .contains(page("log", "fewer-than-replicas"))
                .containsOnlyOnce(page("log", "no-headroom-for-the-engine"));
    }

    @Test
    void theWarningOfAPoolThatIsTooSmallIsOnThePage(CapturedOutput output) {
        RUNNER.withUserConfiguration(EmbeddedPool.class)
                .withPropertyValues("spring.application.name=shop", "virtual-thread.limits.partner.cluster-permits=20")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).containsOnlyOnce(page("log", "no-connection-for-the-engine"));
    }

    @Test
    void theWarningOfAFixedDelayIsOnThePage(CapturedOutput output) {
        RUNNER.withUserConfiguration(Cleanup.class)
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(named(output.getAll())).contains(page("log", "fixed-delay"));
    }

    @Test
    void theWarningOfAScheduledFutureIsOnThePage(CapturedOutput output) {
        RUNNER.withUserConfiguration(Report.class)
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(named(output.getAll())).contains(page("log", "scheduled-future"));
    }

    @Test
    void theWarningOfALimitedFutureIsOnThePage(CapturedOutput output) {
        RUNNER.withUserConfiguration(Stock.class)
                .run(context -> assertThat(context).hasFailed());

        assertThat(named(output.getAll())).contains(page("log", "limited-future"));
    }

    @Test
    void theWarningOfAKeyWithoutALimitIsOnThePage(CapturedOutput output) {
        RUNNER.withUserConfiguration(Tenants.class)
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(named(output.getAll())).contains(page("log", "key-without-limit"));
    }

    @Test
    void theWarningsOfDeadlinesAreOnThePage(CapturedOutput output) {
        RUNNER.withUserConfiguration(Partner.class)
                .withPropertyValues("virtual-thread.limits.partner.permits=10", "virtual-thread.timeout=30s")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(named(output.getAll()))
                .containsOnlyOnce(page("log", "timeout-after-deadline"))
                .doesNotContain("Partner.offer has a deadline of 2s and")
                .containsOnlyOnce(page("log", "deadline-without-queue-capacity"));
    }

    @Test
    void theWarningOfInterruptedStatementsIsOnThePage(CapturedOutput output) {
        RUNNER.withUserConfiguration(Pool.class, ProductPage.class)
                .withPropertyValues("virtual-thread.limits.db.permits-from=dataSource", "virtual-thread.timeout=2s")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).contains(page("log", "interrupted-statements"));
    }

    @Test
    void theWarningsOfStatementsThatAreNotCancelledAreOnThePage(CapturedOutput output) {
        RUNNER.withUserConfiguration(NotCancelled.class)
                .withPropertyValues("virtual-thread.jdbc.cancel-statements=true")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(page("log", "pool-begun, pool-other").split("\n\n"))
                .hasSize(2)
                .allSatisfy(warning -> assertThat(output).containsOnlyOnce(warning));
    }

    @Test
    void theWarningOfAListenerIsOnThePage(CapturedOutput output) {
        RUNNER.withUserConfiguration(Orders.class)
                .run(context -> assertThat(context).hasFailed());

        assertThat(named(output.getAll())).contains(page("log", "listener"));
    }

    private static String report(Throwable failure) {
        List<FailureAnalyzer> analyzers = SpringFactoriesLoader.forDefaultResourceLocation()
                .load(FailureAnalyzer.class, FailureHandler.handleMessage((message, cause) -> {}));
        FailureAnalysis analysis = analyzers.stream()
                .map(analyzer -> analyzer.analyze(failure))
                .filter(Objects::nonNull)
                .findFirst()
                .orElseThrow(() -> new AssertionError("no analysis", failure));
        String place = " \\(\"[^\"]+\" from property source \"test\"\\)";
        return named("%s\nAction: %s"
                        .formatted(
                                analysis.getDescription().strip(),
                                analysis.getAction().strip()))
                .replaceAll(place, " (place)");
    }

    private static String named(String text) {
        return text.replace(StartUpChecksPageTests.class.getName() + "$", "com.acme.")
                .replaceAll("StartUpChecksPageTests\\.java:\\d+", "Newsroom.java:42");
    }

    private static Stream<Block> blocks(String kind) {
        return Stream.of(PAGE, MORE)
                .flatMap(file -> Pages.blocks(file).stream())
                .filter(block -> block.directive().equals(kind));
    }

    /** The reports by their names: a block has those that the line above it names, a blank line between them. */
    private static Map<String, String> reports() {
        Map<String, String> reports = new HashMap<>();
        blocks("mistakes").forEach(block -> {
            Iterator<String> each = List.of(block.text().split("\n\n")).iterator();
            names(block.argument()).forEach(name -> reports.put(name, each.next()));
            assertThat(each).as(block.where()).isExhausted();
        });
        return reports;
    }

    private static Stream<String> names(String list) {
        return Stream.of(list.split(", "));
    }

    private static String page(String kind, String name) {
        return blocks(kind)
                .filter(block -> block.argument().equals(name))
                .map(Block::text)
                .findFirst()
                .orElse("the page has no <!-- %s: %s -->".formatted(kind, name));
    }

    record Case(String name, Class<?> type, String... keys) {

        String[] properties() {
            return Stream.of(keys)
                    .map(key -> key.startsWith("spring.") || name.equals("limits-at-the-root")
                            ? key
                            : "virtual-thread." + key)
                    .toArray(String[]::new);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    static class Nothing {}

    static class OnServlets {}

    static class OnWebFlux {}

    static class Mailer {

        @VirtualThread("mial")
        CompletableFuture<Void> send() {
            return CompletableFuture.completedFuture(null);
        }
    }

    static class Prices {

        @VirtualThread("price db")
        void find() {}
    }

    static class Reports {

        @VirtualThread("${report.limit}")
        void print() {}
    }

    static class Contradiction {

        @VirtualThread(value = "mail", limit = "report")
        CompletableFuture<Void> send() {
            return CompletableFuture.completedFuture(null);
        }
    }

    static class Stock {

        @Limited
        int count() {
            return 40;
        }

        @Limited("db")
        CompletableFuture<Integer> later() {
            return CompletableFuture.completedFuture(40);
        }
    }

    static class Both {

        @Limited("mail")
        @VirtualThread("mail")
        void send() {}
    }

    static class Slow {

        @VirtualThread(timeout = "soon")
        void send() {}
    }

    static class Quick {

        @VirtualThread(timeout = "2")
        void send() {}
    }

    static class Late {

        @Limited(value = "db", deadline = "-2s")
        void count() {}
    }

    static class Soon {

        @VirtualThread(deadline = "2")
        void send() {}
    }

    static class Partner {

        @VirtualThread(limit = "partner", timeout = "5s", deadline = "2s")
        void quote() {}

        @VirtualThread(deadline = "2s")
        void offer() {}
    }

    static class Invoices {

        @VirtualThread(limit = "mail", key = "#tenant.")
        void send(String tenant) {}
    }

    static class Refunds {

        @VirtualThread(limit = "mail", key = "#tenat")
        void send(String tenant, long amount) {}
    }

    static class Parcels {

        @VirtualThread(limit = "mail", key = "#p1")
        void send(String tenant) {}
    }

    static class Letters {

        @VirtualThread(limit = "mail", key = "#tenant")
        public void send(String tenant) {}
    }

    static class Vouchers {

        @VirtualThread(limit = "mail", key = "tenant")
        void send(String tenant) {}
    }

    static class Coupons {

        @VirtualThread(limit = "mail", key = "tenantOf(#order)")
        void send(Object order) {}
    }

    static class Returns {

        @VirtualThread(limit = "mail", key = "@tenants.current()")
        void send(String tenant) {}
    }

    static class Notes {

        @VirtualThread(limit = "mail", key = "#order.custmer")
        void send(Order order) {}
    }

    record Order(long id, String customer) {}

    static class Tenants {

        @VirtualThread(key = "#tenant")
        void invite(String tenant) {}
    }

    static class Counter {

        @Limited("bd")
        int count() {
            return 40;
        }
    }

    static class Newsroom {

        void sendAll() {
            send();
        }

        @VirtualThread
        void send() {}
    }

    static class Cache {

        @PostConstruct
        @VirtualThread
        void load() {}
    }

    static class Catalog {

        @VirtualThread
        String title(long id) {
            return "Tea cup";
        }
    }

    @VirtualThread
    static class Inventory {

        public int count() {
            return 40;
        }
    }

    static class Suspending {

        @VirtualThread
        public Object title(long id, Continuation caller) {
            return "Tea cup";
        }
    }

    static class Newsletter {

        @Async
        @VirtualThread
        void send() {}
    }

    static class PrivateMethod {

        @VirtualThread
        private void send() {}
    }

    static class StaticMethod {

        @VirtualThread
        static void send() {}
    }

    static class FinalMethod {

        @VirtualThread
        final void send() {}
    }

    static final class FinalClass {

        @VirtualThread
        void send() {}
    }

    record RecordClass() {

        @VirtualThread
        void send() {}
    }

    static sealed class SealedClass {

        @VirtualThread
        void send() {}
    }

    static final class OnlyChild extends SealedClass {}

    static class OfInterface implements Runnable {

        @VirtualThread
        public Future<String> report() {
            return CompletableFuture.completedFuture("done");
        }

        @Override
        public void run() {}
    }

    @Configuration(proxyBeanMethods = false)
    static class BeanMethod {

        @Bean
        @VirtualThread
        CompletableFuture<String> token() {
            return CompletableFuture.completedFuture("t");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TooEarly {

        @Bean
        Audit audit() {
            return new Audit();
        }

        @Bean
        static AuditPostProcessor auditPostProcessor(Audit audit) {
            return new AuditPostProcessor();
        }
    }

    static class Audit {

        @VirtualThread
        void record() {}
    }

    static class AuditPostProcessor implements BeanPostProcessor, PriorityOrdered {

        @Override
        public int getOrder() {
            return 0;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableVirtual
    @Import(SecondEnableVirtual.class)
    static class TwoEnableVirtual {}

    @Configuration(proxyBeanMethods = false)
    @EnableVirtual(order = 7)
    static class SecondEnableVirtual {}

    /** Without the classes of AspectJ. */
    static class NoAspectJ {}

    @Configuration(proxyBeanMethods = false)
    @Import({Shop.class, Mailer.class})
    static class NotWoven {}

    /** As AspectJ leaves it: the body is in a static method. */
    static class Shop {

        @Transactional
        @VirtualThread
        void order() {
            order_aroundBody0(this);
        }

        private static void order_aroundBody0(Shop shop) {}
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Shop.class, Printer.class})
    static class AnnotatedAbove {}

    interface Prints {

        @VirtualThread
        void print();
    }

    static class Printer implements Prints {

        @Override
        public void print() {}
    }

    @Configuration(proxyBeanMethods = false)
    @EnableVirtual(mode = AdviceMode.ASPECTJ, annotation = Background.class)
    static class UnknownAnnotation {}

    @interface Background {}

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    @Import(Shop.class)
    static class WovenAndProxied {}

    static class Orders {

        @VirtualThread("db")
        void store() {}

        @VirtualThread("partner")
        void tellPartner() {}

        @VirtualThread
        void count() {}

        @VirtualThread
        @JmsListener
        void onOrder() {}
    }

    static class ProductPage {

        @VirtualThread("db")
        void price() {}

        @VirtualThread("db")
        void stock() {}
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(DataSourceAutoConfiguration.class)
    static class Pool {

        @Bean
        DataSource dataSource() {
            HikariDataSource pool = new HikariDataSource();
            pool.setJdbcUrl("jdbc:none");
            pool.setMaximumPoolSize(10);
            return pool;
        }

        @Bean
        DataSource reporting() {
            return new DriverManagerDataSource();
        }

        @Bean
        PermitsSource broken() {
            return () -> {
                throw new IllegalStateException("no answer");
            };
        }

        @Bean
        PermitsSource empty() {
            return () -> 0;
        }

        @Bean
        Nothing cache() {
            return new Nothing();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(DataSourceAutoConfiguration.class)
    static class EmbeddedPool {

        @Bean
        DataSource dataSource() {
            HikariConfig config = new HikariConfig();
            config.setJdbcUrl("jdbc:h2:mem:warnings");
            config.setMaximumPoolSize(2);
            return new HikariDataSource(config);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class NotCancelled {

        @Bean
        DataSource dataSource() {
            HikariConfig config = new HikariConfig();
            config.setJdbcUrl("jdbc:h2:mem:");
            config.setMaximumPoolSize(1);
            return new HikariDataSource(config);
        }

        @Bean
        DataSource reporting() {
            return new DriverManagerDataSource();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoBeans {

        @Bean
        LimitSettings db() {
            return LimitSettings.of("db", 20);
        }

        @Bean
        LimitSettings database() {
            return LimitSettings.of("db", 10);
        }
    }

    static class Cleanup {

        @VirtualThread
        @Scheduled(fixedDelay = 60_000)
        void removeOldCarts() {}
    }

    static class Report {

        @VirtualThread
        @Scheduled(fixedRate = 60_000)
        CompletableFuture<String> build() {
            return CompletableFuture.completedFuture("");
        }
    }
}
