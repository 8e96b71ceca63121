package io.github.virtualthread.autoconfigure;

import static io.github.virtualthread.test.LimitAssert.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.PermitsSource;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.util.ClassUtils;

/** What Spring Boot's test slices add. Whole slices are in test-kit/src/it/slices, on each line of Spring Boot. */
@Timeout(300)
class SlicesTests {

    private static final Path FILES = Path.of("test-kit/src/main/resources/META-INF/spring");
    private static final String BOOT_3 = "org.springframework.boot.test.autoconfigure.";
    private static final Set<String> WITH_A_WEB = Set.of("WebMvcTest", "WebFluxTest", "GraphQlTest");

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    VirtualThreadAutoConfiguration.class, VirtualThreadSliceAutoConfiguration.class))
            .withPropertyValues("virtual-thread.limits.db.permits-from=dataSource");

    /** All but the one that loads no beans of the application. */
    @Test
    void everySliceOfTheOldestLineHasAFile() throws IOException {
        Set<String> slices = new TreeSet<>();
        for (Resource file : new PathMatchingResourcePatternResolver()
                .getResources("classpath*:org/springframework/boot/test/autoconfigure/**/*Test.class")) {
            String path = file.getURL().getPath();
            String name = path.substring(path.indexOf("org/springframework/boot/test/"))
                    .replace('/', '.')
                    .replaceFirst("\\.class$", "");
            Class<?> type = ClassUtils.resolveClassName(name, null);
            if (MergedAnnotations.from(type).isDirectlyPresent(ImportAutoConfiguration.class)) {
                slices.add(name);
            }
        }

        assertThat(slices.remove(BOOT_3 + "json.JsonTest")).isTrue();
        assertThat(names().filter(name -> name.startsWith(BOOT_3)))
                .hasSizeGreaterThan(15)
                .containsExactlyInAnyOrderElementsOf(slices);
    }

    /** Spring Boot 4 has moved each of them into a module, and has one more. */
    @Test
    void bothKindsOfLinesHaveTheSameSlices() throws IOException {
        assertThat(names().filter(name -> !name.startsWith(BOOT_3))
                        .map(ClassUtils::getShortName)
                        .filter(name -> !name.equals("WebClientTest")))
                .containsExactlyInAnyOrderElementsOf(names().filter(name -> name.startsWith(BOOT_3))
                        .map(ClassUtils::getShortName)
                        .toList());
        assertThat(names().filter(name -> !name.startsWith(BOOT_3)))
                .allMatch(name -> name.contains(".test.autoconfigure."));
    }

    @Test
    void eachFileHasWhatItsSliceNeeds() throws IOException {
        String slice = VirtualThreadSliceAutoConfiguration.class.getName();
        String starter = VirtualThreadAutoConfiguration.class.getName();
        String door = VirtualThreadDoorAutoConfiguration.class.getName();
        String mvc = VirtualThreadWebMvcAutoConfiguration.class.getName();
        String flux = VirtualThreadWebFluxAutoConfiguration.class.getName();
        for (String name : names().toList()) {
            assertThat(Files.readAllLines(FILES.resolve(name + ".imports")))
                    .as(name)
                    .isEqualTo(
                            WITH_A_WEB.contains(ClassUtils.getShortName(name))
                                    ? List.of(slice, starter, door, mvc, flux)
                                    : List.of(slice, starter));
        }
    }

    @Test
    void aLimitHasPermitsAlthoughItsPoolIsMissing() {
        runner.run(context -> {
            assertThat(limit(context, "db")).hasAvailable(10);
            assertThat(limit(context, "db").permitsFrom()).isNull();
        });
    }

    @Test
    void aLimitHasPermitsAlthoughTheDataSourceHasNoPool() {
        runner.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
                .withBean("dataSource", DataSource.class, SimpleDriverDataSource::new)
                .run(context -> assertThat(limit(context, "db")).hasAvailable(10));
    }

    @Test
    void aLimitTakesAllPermitsOfAPoolThatIsThere() {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl("jdbc:none");
        pool.setMaximumPoolSize(3);
        runner.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
                .withBean("dataSource", DataSource.class, () -> pool)
                .withBean("partners", PermitsSource.class, () -> () -> 4)
                .withPropertyValues(
                        "virtual-thread.limits.db.headroom=8", "virtual-thread.limits.partner.permits-from=partners")
                .run(context -> {
                    assertThat(limit(context, "db")).hasAvailable(3);
                    assertThat(limit(context, "partner")).hasAvailable(4);
                });
    }

    @Test
    void aLimitOfAllReplicasIsOneOfThisJvm() {
        runner.withPropertyValues(
                        "virtual-thread.limits.partner.cluster-permits=4", "virtual-thread.limits.db.cluster-permits=5")
                .run(context -> {
                    assertThat(limit(context, "partner")).hasAvailable(4);
                    assertThat(limit(context, "partner").clusterPermits()).isNull();
                    assertThat(limit(context, "db")).hasAvailable(10);
                    assertThat(context.getBean(VirtualThreads.class)
                                    .submit("partner", () -> "called")
                                    .join())
                            .isEqualTo("called");
                });
    }

    @Test
    void mistakesFailTheStartOfASliceToo() {
        runner.withPropertyValues("virtual-thread.limits.mail.permits=0").run(context -> assertThat(context)
                .getFailure()
                .hasMessageContaining("Limit 'mail': permits must be at least 1, was 0"));
    }

    @Test
    void aTestMayExcludeTheStarter() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        VirtualThreadSliceAutoConfiguration.class,
                        VirtualThreadDoorAutoConfiguration.class,
                        VirtualThreadWebMvcAutoConfiguration.class))
                .run(context -> assertThat(context).hasNotFailed());
    }

    private static TaskLimit limit(BeanFactory context, String name) {
        return context.getBean(TaskLimits.class).get(name);
    }

    /** Names of the slices that have a file. */
    private static Stream<String> names() throws IOException {
        try (Stream<Path> files = Files.list(FILES)) {
            return files
                    .map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith("Test.imports"))
                    .map(name -> name.replaceFirst("\\.imports$", ""))
                    .toList()
                    .stream();
        }
    }
}
