package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.reflection;

import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.actuate.VirtualThreadsEndpoint.CallDescriptor;
import io.github.virtualthread.actuate.VirtualThreadsEndpoint.EndedDescriptor;
import io.github.virtualthread.actuate.VirtualThreadsEndpoint.LimitCallsDescriptor;
import io.github.virtualthread.actuate.VirtualThreadsEndpoint.MemberDescriptor;
import io.github.virtualthread.actuate.VirtualThreadsEndpoint.MethodDescriptor;
import io.github.virtualthread.actuate.VirtualThreadsEndpoint.ShadowDescriptor;
import io.github.virtualthread.actuate.VirtualThreadsEndpoint.VirtualThreadsDescriptor;
import io.github.virtualthread.cluster.ClusterEngine;
import io.github.virtualthread.config.EnableVirtual;
import io.github.virtualthread.limit.PermitsFrom;
import io.github.virtualthread.limit.TaskLimit.KeyUse;
import java.io.IOException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
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
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowingConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGConnection;
import org.postgresql.core.BaseConnection;
import org.springframework.aop.interceptor.AsyncExecutionAspectSupport;
import org.springframework.aot.hint.ExecutableHint;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeHint;
import org.springframework.aot.hint.TypeReference;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.aot.AotServices;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.type.AnnotationMetadata;

/** What a native image is told to keep. No image is built here. */
@Timeout(300)
class HintsTests {

    private static final Path SOURCES = Path.of("src/main/java");

    @Test
    void theAttributesOfBothAnnotationsAreKept() {
        assertThat(always()).satisfies(methodsAreKept(VirtualThread.class), methodsAreKept(Limited.class));
    }

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

    @Test
    void annotatedMethodsAreKeptWhereverTheyAreDeclared() {
        assertThat(processed(Auto.class))
                .satisfies(
                        methodsAreKept(Mailer.class),
                        methodsAreKept(Sender.class),
                        methodsAreKept(Sending.class),
                        methodsAreKept(Product.class))
                .satisfies(hints -> assertThat(methods(Plain.class)).rejects(hints));
    }

    @Test
    void soAreTheInterfacesOfSpringByWhichMethodsAreCalledOrLeftOut() {
        assertThat(processed(Listening.class))
                .satisfies(
                        methodsAreKept(Listener.class),
                        methodsAreKept(ApplicationListener.class),
                        methodsAreKept(InitializingBean.class));
    }

    @Test
    void anInnerBeanIsLookedAtLikeAnyOther() {
        assertThat(processed(WithInnerBean.class)).satisfies(methodsAreKept(Mailer.class));
    }

    @Test
    void anAnnotationOfTheApplicationIsKeptLikeOurs() {
        assertThat(processed(WithOwnAnnotation.class))
                .satisfies(methodsAreKept(InBackground.class), methodsAreKept(Printer.class));
    }

    @Test
    void whatAKeyReadsAlongItsPathsIsKept() throws Exception {
        RuntimeHints hints = processed(Keyed.class);

        assertThat(reflection().onMethod(Order.class.getMethod("getCustomer")).invoke())
                .accepts(hints);
        assertThat(reflection().onMethod(Customer.class.getMethod("id")).invoke())
                .accepts(hints);
        assertThat(reflection().onField(Address.class.getField("city"))).accepts(hints);
        assertThat(reflection().onMethod(String.class.getMethod("toLowerCase")).invoke())
                .accepts(hints);
        assertThat(reflection()
                        .onType(TypeReference.of("io.github.virtualthread.aop.KeyExpression$Root"))
                        .withMemberCategory(MemberCategory.INVOKE_DECLARED_METHODS))
                .accepts(hints);
        assertThat(reflection().onMethod(Order.class.getMethod("getNumber")).invoke())
                .rejects(hints);
    }

    @Test
    void whatAKeyReadsOfTheRootByItsNameAloneIsKept() {
        assertThat(methodsOfRoot(ByMethodName.class)).containsExactly("methodName");
        assertThat(methodsOfRoot(ByArguments.class)).containsExactly("args");
    }

    private static List<String> methodsOfRoot(Class<?> keyed) {
        return processed(keyed)
                .reflection()
                .typeHints()
                .filter(hint -> hint.getType().getName().equals("io.github.virtualthread.aop.KeyExpression$Root"))
                .flatMap(TypeHint::methods)
                .map(ExecutableHint::getName)
                .toList();
    }

    @Test
    void aKeyThatIsAParameterOrAMistakeNeedsNothing() {
        RuntimeHints hints = processed(Auto.class);

        assertThat(hints.reflection().typeHints().map(hint -> hint.getType().getName()))
                .doesNotContain(Order.class.getName(), "io.github.virtualthread.aop.KeyExpression$Root");
    }

    @Test
    void proxiesAreThereAlsoWhereTheMethodsAreNotAdvisedWhileItIsBuilt() {
        RuntimeHints hints = processed(Auto.class, Map.of("virtual-thread.enabled", "false"));

        assertThat(hints.reflection().typeHints().map(hint -> hint.getType().getName()))
                .anyMatch(name -> name.startsWith(Mailer.class.getName() + "$$SpringCGLIB$$"));
    }

    private static ThrowingConsumer<RuntimeHints> methodsAreKept(Class<?> type) {
        return hints -> assertThat(methods(type)).as(type.getName()).accepts(hints);
    }

    private static Predicate<RuntimeHints> methods(Class<?> type) {
        return reflection().onType(type).withMemberCategory(MemberCategory.INVOKE_DECLARED_METHODS);
    }

    /** What is kept whatever the beans are. */
    private static RuntimeHints always() {
        RuntimeHints hints = new RuntimeHints();
        ClassLoader classLoader = HintsTests.class.getClassLoader();
        AotServices.factories()
                .load(RuntimeHintsRegistrar.class)
                .forEach(registrar -> registrar.registerHints(hints, classLoader));
        return hints;
    }

    private static RuntimeHints processed(Class<?> application) {
        return processed(application, Map.of());
    }

    private static RuntimeHints processed(Class<?> application, Map<String, Object> properties) {
        TestGenerationContext generation = new TestGenerationContext();
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            context.getEnvironment()
                    .getPropertySources()
                    .addFirst(new MapPropertySource(
                            "endpoints", Map.of("management.endpoints.web.exposure.include", "virtualthreads")));
            context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("test", properties));
            context.register(application);
            new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
        }
        return generation.getRuntimeHints();
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
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    @Import({Mailer.class, ProductFactory.class, Plain.class})
    static class Auto {}

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    @Import(Listener.class)
    static class Listening {}

    @VirtualThread
    static class Listener implements ApplicationListener<ApplicationEvent>, InitializingBean {

        @Override
        public void onApplicationEvent(ApplicationEvent event) {}

        @Override
        public void afterPropertiesSet() {}
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({VirtualThreadAutoConfiguration.class, VirtualThreadActuatorAutoConfiguration.class})
    static class Endpoint {}

    @Configuration(proxyBeanMethods = false)
    @EnableVirtual(annotation = InBackground.class)
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    @Import(Printer.class)
    static class WithOwnAnnotation {}

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    @Import(Outer.class)
    static class WithInnerBean {}

    static class Outer implements ImportBeanDefinitionRegistrar {

        @Override
        public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
            RootBeanDefinition holder = new RootBeanDefinition(Holder.class);
            holder.getPropertyValues().add("held", new RootBeanDefinition(Mailer.class));
            registry.registerBeanDefinition("holder", holder);
        }
    }

    static class Holder {

        public void setHeld(Object held) {}
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface InBackground {

        String limit() default "";
    }

    static class Printer {

        @InBackground
        void print() {}
    }

    interface Sending {

        @VirtualThread
        void send();
    }

    static class Sender {

        @VirtualThread
        void resend() {}
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    @Import(Orders.class)
    static class Keyed {}

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    static class ByMethodName {

        @VirtualThread(limit = "mail", key = "methodName")
        void send() {}
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    static class ByArguments {

        @VirtualThread(limit = "mail", key = "args[0].toString()")
        void send(Order order) {}
    }

    static class Orders {

        @VirtualThread(limit = "mail", key = "#order?.customer.id ?: #root.methodName")
        void send(Order order) {}

        @VirtualThread(limit = "mail", key = "#p0[0].customer.addresses['home'].city.toLowerCase()")
        void sendAll(List<Order> orders) {}
    }

    record Customer(Long id, Map<String, Address> addresses) {}

    static class Order {

        public Customer getCustomer() {
            return new Customer(1L, Map.of());
        }

        public long getNumber() {
            return 1;
        }
    }

    public static class Address {

        public String city = "Leipzig";
    }

    static class Mailer extends Sender implements Sending {

        @VirtualThread(limit = "mail", key = "#order")
        void order(Order order) {}

        @VirtualThread(limit = "mail", key = "#odrer.customer")
        void mistake(Order order) {}

        @VirtualThread(limit = "mail", key = "${no.such.key}")
        void placeholder(Order order) {}

        @Override
        public void send() {}
    }

    static class Plain {

        void nothing() {}
    }

    interface Product {

        @Limited("none")
        void make();
    }

    static class ProductFactory implements FactoryBean<Product> {

        @Override
        public Product getObject() {
            return () -> {};
        }

        @Override
        public Class<?> getObjectType() {
            return Product.class;
        }
    }
}
