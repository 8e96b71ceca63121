package io.github.virtualthread.context;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Not Logback behind SLF4J: each system in a class loader of its own, with the class path of the tests except Logback. */
@Timeout(300)
@Tag("jdk")
class OtherLoggingSystemsTests {

    /** Filled by the build. */
    private static final Path LOG4J = Path.of("target", "log4j");

    @Test
    void carriesTheMdcOfLog4j2() throws Exception {
        assertThat(LOG4J).isDirectory();
        try (Stream<Path> jars = Files.list(LOG4J)) {
            assertThat(probe(jars.toList()))
                    .isEqualTo("Log4jMDCAdapter all={request=7, user=alice} user={user=alice} then={}");
        }
    }

    @Test
    void carriesNothingWhereThereIsNoLoggingSystem() throws Exception {
        assertThat(probe(List.of())).isEqualTo("NOPMDCAdapter all={} user={} then={}");
    }

    private static String probe(List<Path> jars) throws Exception {
        List<URL> path = new ArrayList<>();
        for (Path jar : jars) {
            path.add(jar.toUri().toURL());
        }
        List<String> others = Arrays.stream(
                        System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !entry.contains("logback") && !entry.contains("log4j"))
                .toList();
        for (String entry : others) {
            path.add(Path.of(entry).toUri().toURL());
        }
        ClassLoader caller = Thread.currentThread().getContextClassLoader();
        try (URLClassLoader isolated =
                new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            Thread.currentThread().setContextClassLoader(isolated);
            return (String) ((Callable<?>) isolated.loadClass(MdcProbe.class.getName())
                            .getConstructor()
                            .newInstance())
                    .call();
        } finally {
            Thread.currentThread().setContextClassLoader(caller);
        }
    }
}
