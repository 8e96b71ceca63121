package io.github.virtualthread.aop;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.SmartFactoryBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.SmartInstantiationAwareBeanPostProcessor;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationContextAware;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.Lifecycle;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.SmartApplicationListener;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.annotation.AliasFor;
import org.springframework.core.convert.converter.Converter;
import org.springframework.samples.clinic.Visits;
import org.springframework.scheduling.annotation.SchedulingConfiguration;

class AnnotatedMethodsTests {

    private final AnnotatedMethods methods = new AnnotatedMethods(VirtualThread.class);

    @Test
    void aMethodsAnnotationBeatsThatOfItsClass() {
        assertThat(limit(OnBoth.class, "own")).isEqualTo("method");
        assertThat(limit(OnBoth.class, "other")).isEqualTo("class");
    }

    @Test
    void attributesOfMethodAndClassAreNotMerged() {
        assertThat(declaration(OnBoth.class, "bare").limit()).isEmpty();
        assertThat(declaration(OnBoth.class, "bare").name()).isEmpty();
    }

    @VirtualThread(limit = "class", name = "named")
    static class OnBoth {
        @VirtualThread("method")
        public void own() {}

        public void other() {}

        @VirtualThread
        public void bare() {}
    }

    @Test
    void aClassCoversItsPublicInstanceMethodsOnly() {
        assertThat(names(Covered.class)).containsExactly("run");
    }

    @VirtualThread
    static class Covered {
        public void run() {}

        protected void inherited() {}

        void near() {}

        private void own() {}

        public static void fixed() {}

        @Override
        public String toString() {
            return "";
        }

        @Override
        public boolean equals(Object other) {
            return this == other;
        }

        @Override
        public int hashCode() {
            return 1;
        }
    }

    @Test
    void aClassDoesNotCoverLifeCycleCallbacksOfSpring() {
        assertThat(names(LifeCycle.class)).containsExactly("run");
        assertThat(names(PostProcessor.class)).containsExactly("run");
        assertThat(names(Factory.class)).containsExactly("run");
    }

    @VirtualThread
    static class LifeCycle
            implements ApplicationContextAware,
                    InitializingBean,
                    DisposableBean,
                    SmartInitializingSingleton,
                    SmartLifecycle,
                    PriorityOrdered,
                    Runnable {
        @Override
        public void setApplicationContext(ApplicationContext context) {}

        @Override
        public void afterPropertiesSet() {}

        @Override
        public void destroy() {}

        @Override
        public void afterSingletonsInstantiated() {}

        @Override
        public void start() {}

        @Override
        public void stop() {}

        @Override
        public void stop(Runnable callback) {}

        @Override
        public boolean isRunning() {
            return true;
        }

        @Override
        public int getPhase() {
            return 1;
        }

        @Override
        public int getOrder() {
            return 1;
        }

        @Override
        public void run() {}
    }

    @VirtualThread
    static class PostProcessor
            implements BeanDefinitionRegistryPostProcessor, SmartInstantiationAwareBeanPostProcessor, Runnable {
        @Override
        public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {}

        @Override
        public void postProcessBeanFactory(ConfigurableListableBeanFactory factory) {}

        @Override
        public Object postProcessBeforeInitialization(Object bean, String name) {
            return bean;
        }

        @Override
        public Object getEarlyBeanReference(Object bean, String name) {
            return bean;
        }

        @Override
        public void run() {}
    }

    @VirtualThread
    static class Factory implements SmartFactoryBean<String>, Runnable {
        @Override
        public String getObject() {
            return "";
        }

        @Override
        public Class<?> getObjectType() {
            return String.class;
        }

        @Override
        public boolean isPrototype() {
            return false;
        }

        @Override
        public void run() {}
    }

    @Test
    void aClassDoesNotCoverMethodsThatSpringCallsAsTheBeanBeginsAndEnds() {
        assertThat(names(BeginAndEnd.class)).containsExactly("run");
        assertThat(names(BeginAndEndAgain.class)).containsExactly("run");
    }

    @VirtualThread
    static class BeginAndEnd {
        @PostConstruct
        public void begin() {}

        @PreDestroy
        public void end() {}

        public void run() {}
    }

    @VirtualThread
    static class BeginAndEndAgain extends BeginAndEnd {
        @Override
        public void begin() {}
    }

    @Test
    void aClassCoversWhatImplementsAnyOtherInterfaceOfSpring() throws NoSuchMethodException {
        assertThat(names(Listener.class)).containsExactly("onApplicationEvent", "supportsEventType");
        assertThat(names(ToNumber.class)).containsExactly("convert");

        Method declared = ApplicationListener.class.getMethod("onApplicationEvent", ApplicationEvent.class);
        assertThat(methods.find(declared, Listener.class)).isSameAs(find(Listener.class, "onApplicationEvent"));
    }

    @VirtualThread
    static class Listener implements SmartApplicationListener {
        @Override
        public boolean supportsEventType(Class<? extends ApplicationEvent> type) {
            return true;
        }

        @Override
        public void onApplicationEvent(ApplicationEvent event) {}

        @Override
        public int getOrder() {
            return 1;
        }
    }

    @Limited("db")
    static class ToNumber implements Converter<String, Integer> {
        @Override
        public Integer convert(String text) {
            return 1;
        }
    }

    @Test
    void aClassCoversWhatAnInterfaceOfTheApplicationAddsToACallbackOfSpring() {
        assertThat(names(Pumping.class)).containsExactly("pump");
    }

    interface Pump extends Lifecycle {
        void pump();
    }

    @VirtualThread
    static class Pumping implements Pump {
        @Override
        public void pump() {}

        @Override
        public void start() {}

        @Override
        public void stop() {}

        @Override
        public boolean isRunning() {
            return true;
        }
    }

    @Test
    void theSamplesOfSpringAreApplications() {
        Visits visits = () -> {};
        assertThat(names(visits.getClass())).containsExactly("book");
    }

    @Test
    void anAnnotationOfSpringIsFoundOnSpringsOwnTypesToo() {
        assertThat(new AnnotatedMethods(Bean.class).in(SchedulingConfiguration.class))
                .hasSize(1);
        assertThat(methods.in(SchedulingConfiguration.class)).isEmpty();
    }

    @Test
    void aCallbackOfSpringThatIsAnnotatedItselfIsMeant() {
        assertThat(names(AnnotatedCallback.class)).containsExactly("setApplicationContext");
    }

    static class AnnotatedCallback implements ApplicationContextAware {
        @Override
        @VirtualThread
        public void setApplicationContext(ApplicationContext context) {}
    }

    @Test
    void aSuperclassCoversWhatItDeclaresWhoeverOverridesIt() {
        assertThat(names(Sub.class)).containsExactly("inherited", "overridden");
    }

    @VirtualThread("base")
    static class Base {
        public void inherited() {}

        public void overridden() {}
    }

    static class Sub extends Base {
        @Override
        public void overridden() {}

        public void added() {}
    }

    @Test
    void aClassDoesNotCoverMethodsThatItInheritsUnchanged() {
        assertThat(names(Heir.class)).containsExactly("added", "changed");
    }

    static class Ancestor {
        public void kept() {}

        public void changed() {}
    }

    @VirtualThread
    static class Heir extends Ancestor {
        @Override
        public void changed() {}

        public void added() {}
    }

    @Test
    void theNearestAnnotatedClassWins() {
        assertThat(limit(SubWithOwn.class, "inherited")).isEqualTo("base");
        assertThat(limit(SubWithOwn.class, "overridden")).isEqualTo("sub");
    }

    @VirtualThread("sub")
    static class SubWithOwn extends Base {
        @Override
        public void overridden() {}
    }

    @Test
    void aMethodOfAnInterfaceAnnotatesItsImplementation() throws NoSuchMethodException {
        assertThat(limit(Plain.class, "send")).isEqualTo("interface");
        Method declared = Sender.class.getMethod("send");
        assertThat(methods.find(declared, Plain.class)).isSameAs(find(Plain.class, "send"));
    }

    @Test
    void theImplementingMethodsAnnotationBeatsThatOfTheInterface() {
        assertThat(limit(Own.class, "send")).isEqualTo("own");
    }

    interface Sender {
        @VirtualThread("interface")
        void send();
    }

    static class Plain implements Sender {
        @Override
        public void send() {}
    }

    static class Own implements Sender {
        @Override
        @VirtualThread("own")
        public void send() {}
    }

    @Test
    void aMethodOfAnInterfaceAnnotatesWhatASuperclassHappensToImplement() {
        assertThat(limit(ByInheritance.class, "send")).isEqualTo("interface");
    }

    static class Unaware {
        public void send() {}
    }

    static class ByInheritance extends Unaware implements Sender {}

    @Test
    void theSubInterfaceWinsOverItsParent() {
        assertThat(limit(Deep.class, "send")).isEqualTo("nearer");
    }

    interface NearerSender extends Sender {
        @Override
        @VirtualThread("nearer")
        void send();
    }

    static class Deep implements Sender, NearerSender {
        @Override
        public void send() {}
    }

    @Test
    void anInterfaceCoversWhatItDeclaresAndNothingElse() {
        assertThat(names(Implementation.class)).containsExactly("byDefault", "declared");
    }

    @VirtualThread
    interface Contract {
        void declared();

        default void byDefault() {}
    }

    static class Implementation implements Contract {
        @Override
        public void declared() {}

        public void more() {}
    }

    @Test
    void genericInterfacesAreSeenThrough() {
        for (Method method : handlers(Handling.class)) {
            AnnotatedMethod found = methods.find(method, Handling.class);
            assertThat(found).as(method.toString()).isNotNull();
            assertThat(found.method().getParameterTypes()).containsExactly(String.class);
        }
        Method declared = handlers(Handler.class)[0];
        assertThat(methods.find(declared, Handling.class)).isSameAs(find(Handling.class, "handle"));
        assertThat(methods.in(Handling.class)).hasSize(1);
    }

    private static Method[] handlers(Class<?> type) {
        return Arrays.stream(type.getDeclaredMethods())
                .filter(method -> method.getName().equals("handle"))
                .toArray(Method[]::new);
    }

    interface Handler<T> {
        @VirtualThread
        Future<Void> handle(T value);
    }

    static class Handling implements Handler<String> {
        @Override
        public CompletableFuture<Void> handle(String value) {
            return CompletableFuture.completedFuture(null);
        }
    }

    @Test
    void bridgesThatTheCompilerAddsForVisibilityAreNotDeclaredThere() {
        assertThat(names(PublicFace.class)).isEmpty();
    }

    abstract static class HiddenBase {
        public void run() {}
    }

    @VirtualThread
    public static class PublicFace extends HiddenBase {}

    @Test
    void metaAnnotationsCountWithTheirAttributes() {
        assertThat(limit(Composed.class, "fixed")).isEqualTo("db");
        assertThat(limit(Composed.class, "given")).isEqualTo("mail");
    }

    @Retention(RetentionPolicy.RUNTIME)
    @VirtualThread("db")
    @interface Db {}

    @Retention(RetentionPolicy.RUNTIME)
    @VirtualThread
    @interface Background {
        @AliasFor(annotation = VirtualThread.class, attribute = "limit")
        String on();
    }

    static class Composed {
        @Db
        void fixed() {}

        @Background(on = "mail")
        void given() {}
    }

    @Test
    void anAnnotationOfTheUsersIsReadByItsAttributes() {
        AnnotatedMethods own = new AnnotatedMethods(Offload.class);
        AnnotatedMethod found = own.in(Offloading.class).get(0);
        assertThat(found.declaration())
                .isEqualTo(new Declaration(Offload.class, "mail", "sender", "2s", "5h", "#to", null));
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface Offload {
        String value();

        String name();

        String timeout();

        String deadline();

        String key();
    }

    static class Offloading {
        @Offload(value = "mail", name = "sender", timeout = "2s", deadline = "5h", key = "#to")
        void send(String to) {}

        @VirtualThread
        void ignored() {}
    }

    @Test
    void aMarkerWithoutStringsIsEnough() {
        AnnotatedMethods own = new AnnotatedMethods(Marker.class);
        assertThat(own.in(Marked.class).get(0).declaration())
                .isEqualTo(new Declaration(Marker.class, "", "", "", "", "", null));
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface Marker {
        int limit() default 3;
    }

    static class Marked {
        @Marker
        void send() {}
    }

    @Test
    void anInterfaceBehindAGeneratedClassGivesTheNames() {
        Object proxy = Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Sender.class}, (self, method, args) -> null);
        AnnotatedMethod found = methods.in(proxy.getClass()).get(0);
        assertThat(found.qualifiedName()).isEqualTo(Sender.class.getName() + ".send");
        assertThat(found.defaultName()).isEqualTo("Sender.send");
    }

    @Test
    void aGeneratedSubclassIsSeenAsTheClassOfTheUser() {
        try (var context = new AnnotationConfigApplicationContext(Enhanced.class)) {
            Class<?> enhanced = context.getBean(Enhanced.class).getClass();
            assertThat(enhanced).isNotSameAs(Enhanced.class);
            assertThat(methods.in(enhanced))
                    .extracting(AnnotatedMethod::defaultName)
                    .containsExactly("Enhanced.run");
        }
    }

    @Configuration
    static class Enhanced {
        @Bean
        Object any() {
            return new Object();
        }

        @VirtualThread
        void run() {}
    }

    @Test
    void theNameIsThatOfTheBeansClassAlsoForAnInheritedMethod() {
        assertThat(find(Sub.class, "inherited").defaultName()).isEqualTo("Sub.inherited");
    }

    @Test
    void methodsOfOtherClassesAreNotFound() throws NoSuchMethodException {
        assertThat(methods.find(Plain.class.getMethod("send"), String.class)).isNull();
        assertThat(methods.in(String.class)).isEmpty();
    }

    private String limit(Class<?> type, String name) {
        return declaration(type, name).limit();
    }

    private Declaration declaration(Class<?> type, String name) {
        return find(type, name).declaration();
    }

    private AnnotatedMethod find(Class<?> type, String name) {
        return methods.in(type).stream()
                .filter(each -> each.method().getName().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private String[] names(Class<?> type) {
        return methods.in(type).stream().map(each -> each.method().getName()).toArray(String[]::new);
    }
}
