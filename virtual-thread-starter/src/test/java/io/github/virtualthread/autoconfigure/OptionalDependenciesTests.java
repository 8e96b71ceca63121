package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** In a JVM of its own, without the jars that an application need not have. */
@Timeout(60)
class OptionalDependenciesTests {

    private static final List<String> OPTIONAL = List.of(
            "micrometer-", "context-propagation-", "aspectjweaver-", "spring-boot-actuator", "jspecify-", "jsr305-");

    @Test
    void theStarterNeedsNoneOfThem() throws Exception {
        List<String> left = classPath();
        String output = run(left);

        assertThat(left).hasSizeLessThan(System.getProperty("java.class.path").split(File.pathSeparator).length - 4);
        assertThat(output).contains("propagated: MDC").doesNotContain("registered context");
        assertThat(output).contains("ran on vt-Prices.thread-1");
    }

    private static List<String> classPath() {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> OPTIONAL.stream()
                        .noneMatch(
                                name -> Path.of(entry).getFileName().toString().startsWith(name)))
                .toList();
    }

    private static String run(List<String> classPath) throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        classPath.stream().collect(Collectors.joining(File.pathSeparator)),
                        Application.class.getName())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        return output;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        public static void main(String[] arguments) {
            try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
                    .web(WebApplicationType.NONE)
                    .run("--virtual-thread.limits.db.permits=2")) {
                System.out.println("ran on "
                        + context.getBean(Prices.class).thread().join().getName());
            }
        }

        @Bean
        Prices prices() {
            return new Prices();
        }
    }

    static class Prices {

        @VirtualThread("db")
        public CompletableFuture<Thread> thread() {
            return CompletableFuture.completedFuture(Thread.currentThread());
        }
    }
}
