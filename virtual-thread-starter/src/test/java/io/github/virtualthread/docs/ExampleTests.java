package io.github.virtualthread.docs;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.autoconfigure.VirtualThreadAsyncAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.cluster.ClusterEngine;
import io.github.virtualthread.cluster.MemoryEngine;
import io.github.virtualthread.docs.Pages.Block;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.PropertySource;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/**
 * What the pages show is what compiles here. The line above a block of Java says where it comes from: {@code example: X} is
 * the region between {@code // example: X} and {@code // end} in this package and those below it, without imports from these,
 * {@code excerpt: path} is part of that file, {@code fragment} is not compiled.
 */
class ExampleTests {

    private static final Map<String, String> REGIONS = new LinkedHashMap<>();
    private static final Set<String> IMPORTS = new TreeSet<>();
    private static final Pattern IMPORT = Pattern.compile(
            "^import (?:static )?(io\\.github\\.virtualthread\\.(?!docs)(?:[a-z]+\\.)*[A-Z]\\w*)[\\w.]*;");

    @BeforeAll
    static void readRegions() throws IOException {
        try (Stream<Path> files = Files.walk(Pages.SOURCES)) {
            files.filter(file -> file.toString().endsWith(".java")).forEach(ExampleTests::readRegions);
        }
    }

    private static void readRegions(Path file) {
        Map<String, String> imports = new HashMap<>(); // full names of our types by the names that a region uses
        String region = null;
        for (String line : Pages.lines(file)) {
            String stripped = line.strip();
            if (stripped.startsWith("// example: ")) {
                region = stripped.substring("// example: ".length());
            } else if (stripped.equals("// end")) {
                region = null;
            } else if (region != null && !stripped.startsWith("import io.github.virtualthread.docs.")) {
                REGIONS.merge(region, line, (before, next) -> before + "\n" + next);
                readUses(line, imports);
            } else {
                readImport(stripped, imports);
            }
        }
    }

    private static void readImport(String line, Map<String, String> imports) {
        Matcher imported = IMPORT.matcher(line);
        if (imported.find()) {
            imports.put(imported.group().replaceAll(".*\\.|;", ""), imported.group(1));
        }
    }

    private static void readUses(String line, Map<String, String> imports) {
        readImport(line.strip(), imports);
        imports.forEach((name, type) -> {
            if (line.matches(".*\\b" + name + "\\b.*")) {
                IMPORTS.add(type);
            }
        });
    }

    /** Users compile against what the page of public types lists. */
    @Test
    void theRegionsImportPublicTypesOnly() {
        assertThat(IMPORTS).isNotEmpty().isSubsetOf(publicTypes());
    }

    private static Set<String> publicTypes() {
        return Pattern.compile("(?m)^\\| `(io\\.github\\.virtualthread[a-z.]*)` \\| (`.+`) \\|$")
                .matcher(Pages.text("docs/compatibility.md"))
                .results()
                .flatMap(row ->
                        Stream.of(row.group(2).replace("`", "").split(", ")).map(type -> row.group(1) + "." + type))
                .collect(Collectors.toSet());
    }

    static Stream<Block> javaBlocks() {
        return Pages.blocks("java");
    }

    static Stream<Block> yamlBlocks() {
        return Pages.blocks("yaml");
    }

    @ParameterizedTest
    @MethodSource("javaBlocks")
    void aBlockOfJavaIsTheSourceItComesFrom(Block block) {
        switch (block.directive()) {
            case "example" ->
                assertThat(Pages.normalized(block.text()))
                        .isEqualTo(Pages.normalized(REGIONS.getOrDefault(block.argument(), "no such region")));
            case "excerpt" ->
                assertThat(Pages.normalized(String.join("\n", Pages.lines(Pages.ROOT.resolve(block.argument())))))
                        .contains(Pages.normalized(block.text()));
            default -> assertThat(block.directive()).isEqualTo("fragment");
        }
    }

    @Test
    void noRegionIsWithoutAPage() {
        assertThat(javaBlocks()
                        .filter(block -> block.directive().equals("example"))
                        .map(Block::argument))
                .containsAll(REGIONS.keySet());
    }

    @ParameterizedTest
    @MethodSource("yamlBlocks")
    void anApplicationStartsWithABlockOfYaml(Block block) {
        String yaml = block.text()
                .replace(
                        "com.acme.Mailer.send", "io.github.virtualthread.docs.migratingfromasync.after.Mailer.confirm");
        PropertySource<?> source = Pages.properties("page", yaml);
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        VirtualThreadAutoConfiguration.class,
                        VirtualThreadAsyncAutoConfiguration.class,
                        TaskExecutionAutoConfiguration.class,
                        DataSourceAutoConfiguration.class))
                .withBean("dataSource", DataSource.class, ExampleTests::pool)
                .withBean(ClusterEngine.class, MemoryEngine::new)
                .withBean("mailExecutor", ThreadPoolTaskExecutor.class)
                .withPropertyValues("spring.application.name=shop")
                .withInitializer(
                        context -> context.getEnvironment().getPropertySources().addFirst(source))
                .run(context -> assertThat(context).hasNotFailed());
    }

    private static DataSource pool() {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl("jdbc:none");
        return pool;
    }
}
