package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.reflection;

import io.github.virtualthread.actuate.VirtualThreadsEndpoint.CallDescriptor;
import io.github.virtualthread.actuate.VirtualThreadsEndpoint.EndedDescriptor;
import io.github.virtualthread.actuate.VirtualThreadsEndpoint.LimitCallsDescriptor;
import io.github.virtualthread.actuate.VirtualThreadsEndpoint.MemberDescriptor;
import io.github.virtualthread.actuate.VirtualThreadsEndpoint.MethodDescriptor;
import io.github.virtualthread.actuate.VirtualThreadsEndpoint.ShadowDescriptor;
import io.github.virtualthread.actuate.VirtualThreadsEndpoint.VirtualThreadsDescriptor;
import io.github.virtualthread.autoconfigure.properties.VirtualThreadProperties;
import io.github.virtualthread.cluster.ClusterEngine;
import io.github.virtualthread.limit.PermitsFrom;
import io.github.virtualthread.limit.TaskLimit.KeyUse;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.ParameterMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGConnection;
import org.postgresql.core.BaseConnection;
import org.springframework.aop.interceptor.AsyncExecutionAspectSupport;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.support.SpringFactoriesLoader;

/** What a native image is told to keep of the starter. No image is built here. */
@Timeout(300)
class HintsTests extends NativeHints {

    private static final Path SOURCES = Path.of("src/main/java");

    @Test
    void everyClassWhosePresenceIsAskedForByNameIsKept() throws Exception {
        RuntimeHints hints = always();

        List<String> names = classNamesBesideIsPresent();

        assertThat(names).isNotEmpty().allSatisfy(name -> assertThat(reflection()
                        .onType(Class.forName(name, false, getClass().getClassLoader())))
                .accepts(hints));
    }

    /** Also if the build does not ask for them: the properties that count are those of the start. */
    @ParameterizedTest
    @ValueSource(
            classes = {
                Connection.class,
                Statement.class,
                PreparedStatement.class,
                CallableStatement.class,
                ResultSet.class,
                ResultSetMetaData.class,
                ParameterMetaData.class
            })
    void whatStandsBeforeADriverIsKept(Class<?> type) {
        assertThat(RuntimeHintsPredicates.proxies().forInterfaces(type)).accepts(always());
    }

    /** By reflection, as the driver is optional. */
    @Test
    void whatIsAskedOfTheDriverOfPostgresIsKept() throws Exception {
        assertThat(reflection()
                        .onMethod(PGConnection.class.getMethod("cancelQuery"))
                        .invoke())
                .accepts(always());
        assertThat(reflection()
                        .onMethod(BaseConnection.class.getMethod("getTransactionState"))
                        .invoke())
                .accepts(always());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"redis/claim.lua", "jdbc/schema-h2.sql", "jdbc/schema-mariadb.sql", "jdbc/schema-postgresql.sql"
            })
    void whatEnginesOfAClusterReadIsKept(String file) {
        assertThat(ClusterEngine.class.getResource(file)).isNotNull();
        assertThat(RuntimeHintsPredicates.resource().forResource("io/github/virtualthread/cluster/" + file))
                .accepts(always());
    }

    @Test
    void theFailureAnalyzerIsKeptAndComesFirst() {
        FailureAnalyzer first = SpringFactoriesLoader.forDefaultResourceLocation()
                .load(
                        FailureAnalyzer.class,
                        SpringFactoriesLoader.FailureHandler.handleMessage((message, failure) -> {}))
                .getFirst(); // before those of others, of which one may be for any failure

        assertThat(first).isInstanceOf(MistakesFailureAnalyzer.class);
        assertThat(reflection()
                        .onType(MistakesFailureAnalyzer.class)
                        .withMemberCategory(MemberCategory.INVOKE_DECLARED_CONSTRUCTORS))
                .accepts(always());
    }

    @Test
    void theExecutorAndTheHandlerOfAsyncMethodsAreRead() {
        assertThat(reflection()
                        .onType(AsyncExecutionAspectSupport.class)
                        .withMemberCategory(MemberCategory.DECLARED_FIELDS))
                .accepts(processed(
                        AutoWithExecutors.class,
                        Map.of("virtual-thread.limits.db.permits", "2", "virtual-thread.async.limit", "db")));
    }

    @Test
    void thePropertiesAreBound() {
        RuntimeHints hints = processed(Auto.class);

        assertThat(Stream.concat(
                        Stream.of(VirtualThreadProperties.class),
                        Arrays.stream(VirtualThreadProperties.class.getDeclaredClasses())))
                .hasSizeGreaterThan(5)
                .allSatisfy(type -> assertThat(reflection()
                                .onConstructor(type.getDeclaredConstructors()[0])
                                .invoke())
                        .accepts(hints));
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                VirtualThreadsDescriptor.class,
                MethodDescriptor.class,
                LimitCallsDescriptor.class,
                CallDescriptor.class,
                PermitsFrom.class,
                KeyUse.class,
                MemberDescriptor.class,
                ShadowDescriptor.class,
                EndedDescriptor.class
            })
    void whatTheEndpointAnswersIsWritten(Class<?> answer) {
        RuntimeHints hints = processed(Endpoint.class);

        assertThat(answer.getRecordComponents())
                .extracting(RecordComponent::getAccessor)
                .isNotEmpty()
                .allSatisfy(accessor ->
                        assertThat(reflection().onMethod(accessor).invoke()).accepts(hints));
    }

    private static List<String> classNamesBesideIsPresent() throws IOException {
        Pattern className = Pattern.compile("\"([a-z]+(?:\\.[a-z0-9]+)+\\.[A-Z]\\w+)\"");
        List<String> names = new ArrayList<>();
        try (Stream<Path> files = Files.walk(SOURCES)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                String source = Files.readString(file);
                Matcher matcher = className.matcher(source);
                // a registrar asks when the image is built
                boolean asks = source.contains("ClassUtils.isPresent(") && !source.contains("BeanDefinitionRegistrar");
                while (asks && matcher.find()) {
                    names.add(matcher.group(1));
                }
            }
        }
        return names;
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        TaskExecutionAutoConfiguration.class,
        VirtualThreadAutoConfiguration.class,
        VirtualThreadAsyncAutoConfiguration.class
    })
    static class AutoWithExecutors {}

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({VirtualThreadAutoConfiguration.class, VirtualThreadActuatorAutoConfiguration.class})
    static class Endpoint {}
}
