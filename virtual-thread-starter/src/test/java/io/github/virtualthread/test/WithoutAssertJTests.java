package io.github.virtualthread.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.config.EnableVirtual;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimits;
import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** In a class loader of its own, with the class path of the tests except AssertJ. */
@Timeout(300)
class WithoutAssertJTests {

    @Test
    void allButTheAssertionsWork() throws Exception {
        List<URL> path = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (!entry.contains("assertj")) {
                path.add(Path.of(entry).toUri().toURL());
            }
        }
        ClassLoader caller = Thread.currentThread().getContextClassLoader();
        try (URLClassLoader isolated =
                new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            Thread.currentThread().setContextClassLoader(isolated);
            Object found = ((Callable<?>) isolated.loadClass(Probe.class.getName())
                            .getConstructor()
                            .newInstance())
                    .call();

            assertThat(found).isEqualTo("1 inside, 1 of 2 available, no org/assertj/core/api/AbstractAssert");
        } finally {
            Thread.currentThread().setContextClassLoader(caller);
        }
    }

    /** Runs in the other class loader. */
    public static class Probe implements Callable<String> {

        @Override
        public String call() throws Exception {
            try (var context = new AnnotationConfigApplicationContext(Application.class)) {
                TaskLimits limits = context.getBean(TaskLimits.class);
                ConcurrentCalls calls = new ConcurrentCalls();
                String inside = context.getBean(VirtualThreads.class)
                        .submit("db", () -> {
                            try (var entered = calls.enter()) {
                                return "%d inside, %d of 2 available"
                                        .formatted(calls.now(), limits.get("db").available());
                            }
                        })
                        .join();
                return inside + ", " + missing(limits);
            }
        }

        private static String missing(TaskLimits limits) {
            try {
                LimitAssert.assertThat(limits.get("db")).isIdle();
                return "AssertJ";
            } catch (NoClassDefFoundError missing) {
                return "no " + missing.getMessage();
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableVirtual
    static class Application {

        @Bean
        LimitSettings db() {
            return LimitSettings.of("db", 2);
        }
    }
}
