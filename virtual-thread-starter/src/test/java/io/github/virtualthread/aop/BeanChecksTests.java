package io.github.virtualthread.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import ch.qos.logback.classic.Level;
import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.aop.Findings.AdvisedMethod;
import io.github.virtualthread.mistake.Mistake;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.annotation.Before;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.EnableAspectJAutoProxy;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.SimpleThreadScope;
import org.springframework.core.PriorityOrdered;
import org.springframework.jms.annotation.JmsListener;
import org.springframework.scheduling.annotation.Scheduled;

@Timeout(300)
class BeanChecksTests {

    private static final AtomicInteger created = new AtomicInteger();

    @BeforeEach
    void nothingIsCreatedYet() {
        created.set(0);
    }

    @Test
    void mistakesOfAllBeansComeTogetherInTheOrderOfTheirDefinitions() {
        assertThat(TestContext.mistakesOf(First.class, Correct.class, Second.class))
                .extracting(Mistake::description)
                .satisfiesExactly(first -> assertThat(first).contains("First.send"), second -> assertThat(second)
                        .contains("Second.send"));
    }

    static class First {
        @VirtualThread("mial")
        void send() {}
    }

    static class Correct {
        @VirtualThread("mail")
        void send() {}
    }

    static class Second {
        @VirtualThread
        int send() {
            return 1;
        }
    }

    @Test
    void lazyPrototypeScopedAndFactoryMadeBeansAreCheckedWithoutBeingCreated() {
        try (TestContext context = TestContext.with(it -> {
            it.getBeanFactory().registerScope("thread", new SimpleThreadScope());
            it.register(NotYet.class);
        })) {
            // too late for Spring itself, which creates factories in order to find event listeners
            RootBeanDefinition factory = new RootBeanDefinition(NotYet.class);
            factory.setFactoryMethodName("factory");
            context.registerBeanDefinition("factory", factory);

            assertThat(context.check().mistakes())
                    .extracting(mistake -> mistake.description().replaceAll(".*\\$|\\..*", ""))
                    .containsExactly("LazyBean", "PrototypeBean", "ScopedBean", "ProductBean", "Factory");
            assertThat(created).hasValue(0);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class NotYet {
        @Bean
        @Lazy
        LazyBean lazy() {
            return new LazyBean();
        }

        @Bean
        @Scope("prototype")
        PrototypeBean prototype() {
            return new PrototypeBean();
        }

        @Bean
        @Scope(scopeName = "thread", proxyMode = ScopedProxyMode.TARGET_CLASS)
        ScopedBean scoped() {
            return new ScopedBean();
        }

        static Factory factory() {
            return new Factory();
        }
    }

    static class Counted {
        Counted() {
            // a class proxy comes about without its constructor
            created.incrementAndGet();
        }

        @VirtualThread("mial")
        public void send() {}
    }

    static class LazyBean extends Counted {}

    static class PrototypeBean extends Counted {}

    static class ScopedBean extends Counted {}

    static class ProductBean extends Counted {}

    static class Factory extends Counted implements FactoryBean<ProductBean> {
        @Override
        public ProductBean getObject() {
            return new ProductBean();
        }

        @Override
        public Class<?> getObjectType() {
            return ProductBean.class;
        }
    }

    @Test
    void aScopedProxyIsNotTakenForTheBeanBehindIt() {
        try (TestContext context = TestContext.with(it -> {
            it.withInterfaceProxies();
            it.getBeanFactory().registerScope("thread", new SimpleThreadScope());
            it.register(ScopedImplementing.class);
        })) {
            // the bean behind it is a subclass, by its definition, and so has methods of no interface
            assertThat(context.check().mistakes()).isEmpty();
            assertThat(context.check().methods()).hasSize(2);
        }
    }

    @Scope(scopeName = "thread", proxyMode = ScopedProxyMode.TARGET_CLASS)
    static class ScopedImplementing extends Implementing {}

    @Test
    void aSingletonThatItsDeclarationHidesIsCheckedByItsClass() {
        assertThat(TestContext.mistakesOf(Hiding.class))
                .singleElement()
                .satisfies(mistake -> assertThat(mistake.description()).contains("$Hidden.run asks for limit 'mial'"));
    }

    @Configuration(proxyBeanMethods = false)
    static class Hiding {
        @Bean
        Runnable hidden() {
            return new Hidden();
        }
    }

    static class Hidden implements Runnable {
        @Override
        @VirtualThread("mial")
        public void run() {}
    }

    @Test
    void everyAdvisedMethodIsCountedOnce() {
        try (TestContext context = TestContext.of(Several.class)) {
            assertThat(context.check("report").methods())
                    .extracting(AdvisedMethod::method, AdvisedMethod::limit)
                    .containsExactly(
                            tuple(Implementing.class.getName() + ".send", "mail"),
                            tuple(Implementing.class.getName() + ".store", "report"));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Several {
        @Bean
        Sender one() {
            return new Implementing();
        }

        @Bean
        Implementing two() {
            return new Implementing();
        }
    }

    interface Sender {
        @VirtualThread("mail")
        void send();
    }

    static class Implementing implements Sender {
        @Override
        public void send() {}

        @VirtualThread
        void store() {}
    }

    @Test
    void theProxyThatIsThereDecidesNotTheOneThatWeWouldMake() {
        try (TestContext context = TestContext.with(it -> {
            it.withInterfaceProxies();
            it.register(ClassProxies.class, Implementing.class);
        })) {
            assertThat(context.getBean(Implementing.class)).isNotNull();
            assertThat(context.check().mistakes()).isEmpty();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAspectJAutoProxy(proxyTargetClass = true)
    static class ClassProxies {
        @Bean
        AnyAspect aspect() {
            return new AnyAspect();
        }
    }

    @Aspect
    static class AnyAspect {
        @Before("@annotation(io.github.virtualthread.VirtualThread)")
        void before() {}
    }

    @Test
    void aBeanPulledInByAnEarlyPostProcessorIsAMistake() {
        for (Class<?> puller : new Class<?>[] {Early.class, EarlyFactory.class}) {
            assertThat(TestContext.mistakesOf(puller, Correct.class))
                    .as(puller.getSimpleName())
                    .singleElement()
                    .satisfies(mistake -> {
                        assertThat(mistake.description())
                                .contains("of " + Correct.class.getName())
                                .contains("was created too early");
                        assertThat(mistake.action()).contains("static @Bean");
                    });
        }
    }

    @Test
    void whenNotEnabledItDoesNotMatterThatABeanIsEarly() {
        try (TestContext context = TestContext.with(
                Map.of("virtual-thread.enabled", "false"), null, it -> it.register(Early.class, Correct.class))) {
            assertThat(context.check().mistakes()).isEmpty();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Early {
        @Bean
        static EarlyPostProcessor early(Correct needed) {
            return new EarlyPostProcessor();
        }
    }

    static class EarlyPostProcessor implements BeanPostProcessor, PriorityOrdered {
        @Override
        public int getOrder() {
            return 0;
        }
    }

    static class EarlyFactory implements BeanFactoryPostProcessor, PriorityOrdered {
        @Override
        public void postProcessBeanFactory(ConfigurableListableBeanFactory factory) {
            factory.getBean(Correct.class);
        }

        @Override
        public int getOrder() {
            return 0;
        }
    }

    @Test
    void anObjectThatWasRegisteredReadyMadeSuchAsAMockIsNoMistake() {
        try (TestContext context = TestContext.with(it -> {
            it.registerBeanDefinition("mock", new RootBeanDefinition(Correct.class));
            it.getBeanFactory().registerSingleton("mock", new Correct());
        })) {
            assertThat(context.getBean(Correct.class)).isNotNull();
            assertThat(context.check().mistakes()).isEmpty();
        }
    }

    @Test
    void aDefinitionWhoseClassIsMissingDoesNotStopTheCheck() {
        try (TestContext context = TestContext.of(First.class)) {
            var processor = context.getBean(VirtualThreadBeanPostProcessor.class);
            context.registerBeanDefinition("missing", new RootBeanDefinition("com.acme.Missing"));

            assertThat(processor.check(context::limits, MethodSettings.NONE).mistakes())
                    .hasSize(1);
        }
    }

    @Test
    void abstractDefinitionsAreTemplatesNotBeans() {
        try (TestContext context = TestContext.with(it -> {
            RootBeanDefinition template = new RootBeanDefinition(First.class);
            template.setAbstract(true);
            it.registerBeanDefinition("template", template);
        })) {
            assertThat(context.check().mistakes()).isEmpty();
        }
    }

    @Test
    void voidMethodsWhoseTriggerTakesTheirReturnForTheEndAreWarnedOf() {
        try (Logs logs = new Logs();
                TestContext context = TestContext.of(Triggered.class)) {
            assertThat(context.check().mistakes()).isEmpty();

            List<String> warnings = logs.messages(Level.WARN);
            assertThat(warnings).hasSize(4);
            assertThat(warnings.get(0)).contains("Triggered.delayed has @VirtualThread and @Scheduled(fixedDelay)");
            assertThat(warnings.get(1)).contains("Triggered.delayedByText");
            assertThat(warnings.get(2))
                    .contains("Triggered.overlooked has @VirtualThread and @Scheduled and returns a future");
            assertThat(warnings.get(3)).contains("Triggered.received has @VirtualThread and @JmsListener");
        }
    }

    @Lazy
    static class Triggered {
        @VirtualThread
        @Scheduled(fixedDelay = 1000)
        void delayed() {}

        @VirtualThread
        @Scheduled(fixedDelay = 1000)
        @SchedulerLock
        void delayedUnderALock() {}

        @VirtualThread
        @Scheduled(fixedRate = 1)
        @Scheduled(fixedDelayString = "PT1S")
        void delayedByText() {}

        @VirtualThread
        @Scheduled(fixedRate = 1000)
        void atRate() {}

        @VirtualThread
        @Scheduled(fixedRate = 1000)
        Future<String> overlooked() {
            return CompletableFuture.completedFuture("nobody reads this");
        }

        @Limited("mail")
        @Scheduled(fixedDelay = 1000)
        int onTheScheduler() {
            return 1;
        }

        @VirtualThread
        @JmsListener
        void received() {}

        @JmsListener
        void onTheCallersThread() {}
    }
}
