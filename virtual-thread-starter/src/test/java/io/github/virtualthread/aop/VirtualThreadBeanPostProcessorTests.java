package io.github.virtualthread.aop;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import ch.qos.logback.classic.Level;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.aop.Findings.AdvisedMethod;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.ProxyFactoryBean;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.EnableAspectJAutoProxy;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.SimpleThreadScope;
import org.springframework.scheduling.annotation.EnableAsync;

/** Which beans are advised, and how often. */
@Timeout(300)
class VirtualThreadBeanPostProcessorTests {

    @Test
    void anInterfaceProxyHasFinalMethodsAndFinalClasses() throws Exception {
        try (TestContext context = TestContext.with(it -> {
            it.withInterfaceProxies();
            it.register(FinalSender.class);
        })) {
            Sender sender = context.getBean(Sender.class);

            assertThat(AopUtils.isJdkDynamicProxy(sender)).isTrue();
            assertThat(sender.send().get(120, SECONDS).getName()).startsWith("vt-FinalSender.send");
            assertThat(context.check().mistakes()).isEmpty();
        }
    }

    @Test
    void nothingLooksForWovenCodeWhereAspectjIsAbsent() {
        try (TestContext present = TestContext.of();
                TestContext absent =
                        TestContext.with(it -> it.setClassLoader(new FilteredClassLoader("org.aspectj")))) {
            assertThat(looksForWovenCode(present)).isTrue();
            assertThat(looksForWovenCode(absent)).isFalse();
        }
    }

    private static boolean looksForWovenCode(TestContext context) {
        return context.getDefaultListableBeanFactory().getBeanPostProcessors().stream()
                .anyMatch(ContextWeaving.class::isInstance);
    }

    @Test
    void withInterfaceProxiesAClassOfNoInterfaceIsSubclassed() throws Exception {
        try (TestContext context = TestContext.with(it -> {
            it.withInterfaceProxies();
            it.register(Mailer.class);
        })) {
            assertThat(context.getBean(Mailer.class).send().get(120, SECONDS).isVirtual())
                    .isTrue();
        }
    }

    @Test
    void whatAFactoryMakesIsAdvisedByTheAnnotationOfItsInterface() throws Exception {
        try (TestContext context = TestContext.of(SenderFactory.class)) {
            Thread thread = context.getBean(Sender.class).send().get(120, SECONDS);

            assertThat(thread.isVirtual()).isTrue();
        }
    }

    @Test
    void aRepositoryLikeProxyIsAdvisedThoughItsTargetKnowsNothingOfTheInterface() throws Exception {
        try (TestContext context = TestContext.of(RepositoryFactory.class)) {
            Thread thread = context.getBean(Sender.class).send().get(120, SECONDS);

            assertThat(thread.getName()).startsWith("vt-Sender.send");
        }
    }

    @Test
    void aScopedBeanIsAdvisedOnceBehindItsScopedProxy() throws Exception {
        try (TestContext context = TestContext.with(it -> {
            it.getBeanFactory().registerScope("thread", new SimpleThreadScope());
            it.register(ScopedMailer.class);
        })) {
            ScopedMailer mailer = context.getBean(ScopedMailer.class);

            assertThat(mailer.send().get(120, SECONDS).isVirtual()).isTrue();
            assertThat(mailer.limited().get(120, SECONDS).isVirtual()).isTrue();
            assertThat(VirtualThreadBeanPostProcessor.isAdvised(mailer)).isFalse();
            Findings findings = context.check();
            assertThat(findings.mistakes()).isEmpty();
            assertThat(findings.methods()).hasSize(2);
        }
    }

    @Test
    void lazyAndPrototypeBeansAreAdvisedWhenTheyAreCreated() throws Exception {
        try (TestContext context = TestContext.of(LazyMailer.class, PrototypeMailer.class)) {
            assertThat(context.check().mistakes()).isEmpty();

            assertThat(context.getBean(LazyMailer.class)
                            .send()
                            .get(120, SECONDS)
                            .isVirtual())
                    .isTrue();
            assertThat(context.getBean(PrototypeMailer.class)
                            .send()
                            .get(120, SECONDS)
                            .isVirtual())
                    .isTrue();
        }
    }

    @Test
    void aBeanOfTwoNamesHopsOnce() throws Exception {
        try (TestContext context = TestContext.of(Aliases.class)) {
            // a second hop would wait for the only permit, which the first one holds
            assertThat(context.getBean("again", Mailer.class).limited().get(120, SECONDS))
                    .isNotNull();
            assertThat(context.getBean("wrapped", Mailer.class).limited().get(120, SECONDS))
                    .isNotNull();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Aliases {
        @Bean
        Mailer mailer() {
            return new Mailer();
        }

        @Bean
        Mailer again(Mailer mailer) {
            return mailer;
        }

        @Bean
        ProxyFactoryBean wrapped(Mailer mailer) {
            ProxyFactoryBean factory = new ProxyFactoryBean();
            factory.setTarget(mailer);
            factory.setProxyTargetClass(true);
            return factory;
        }
    }

    @Test
    void circularBeansAreConstructedOnceAndShareOneProxy() throws Exception {
        for (Class<?>[] components :
                new Class<?>[][] {{Chicken.class, Egg.class}, {Chicken.class, Egg.class, Aspects.class}}) {
            Chicken.made.set(0);
            try (TestContext context = TestContext.with(it -> {
                it.setAllowCircularReferences(true);
                it.register(components);
            })) {
                Chicken chicken = context.getBean(Chicken.class);

                assertThat(Chicken.made).hasValue(1);
                assertThat(context.getBean(Egg.class).chicken).isSameAs(chicken);
                assertThat(((Advised) chicken).getAdvisors())
                        .filteredOn(VirtualThreadAdvisor.class::isInstance)
                        .hasSize(1);
                assertThat(((Advised) chicken).getAdvisors()[0]).isInstanceOf(VirtualThreadAdvisor.class);
                assertThat(AopUtils.isAopProxy(
                                ((Advised) chicken).getTargetSource().getTarget()))
                        .isFalse();
                assertThat(chicken.lay().get(120, SECONDS).isVirtual()).isTrue();
                assertThat(context.check().mistakes()).isEmpty();
            }
        }
    }

    static class Chicken {
        static final AtomicInteger made = new AtomicInteger();

        @Autowired
        Egg egg;

        Chicken() {
            // the constructor of a class proxy is not run
            made.incrementAndGet();
        }

        @VirtualThread
        CompletableFuture<Thread> lay() {
            return completedFuture(Thread.currentThread());
        }
    }

    static class Egg {
        @Autowired
        Chicken chicken;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAspectJAutoProxy(proxyTargetClass = true)
    static class Aspects {
        @Bean
        AdviceOfOthersTests.Outermost aspect() {
            return new AdviceOfOthersTests.Outermost();
        }
    }

    @Test
    void whenNotEnabledMethodsStayOnTheCallersThreadAndAreStillChecked() throws Exception {
        Map<String, Object> disabled = Map.of("virtual-thread.enabled", "false");
        try (TestContext context = TestContext.with(disabled, null, it -> it.register(Mailer.class, Misspelt.class))) {
            assertThat(AopUtils.isAopProxy(context.getBean(Mailer.class))).isFalse();
            assertThat(context.getBean(Mailer.class).send().get()).isSameAs(Thread.currentThread());
            assertThat(context.check().mistakes()).hasSize(1);
        }
    }

    @Test
    void anAnnotationOfTheUsersReplacesOurs() throws Exception {
        try (TestContext context = TestContext.with(it -> {
            it.withPostProcessor(Map.of("annotationType", Offload.class, "proxyTargetClass", true));
            it.register(Offloading.class, Mailer.class);
        })) {
            assertThat(context.getBean(Offloading.class)
                            .send()
                            .get(120, SECONDS)
                            .getName())
                    .startsWith("vt-Offloading.send");
            assertThat(context.getBean(Mailer.class).send().get()).isSameAs(Thread.currentThread());
            assertThat(context.check().methods())
                    .extracting(AdvisedMethod::method, AdvisedMethod::limit)
                    .containsExactly(tuple(Offloading.class.getName() + ".send", "mail"));
        }
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface Offload {
        String value();
    }

    static class Offloading {
        @Offload("mail")
        CompletableFuture<Thread> send() {
            return completedFuture(Thread.currentThread());
        }
    }

    @Test
    void theOrderCanBeSet() {
        try (TestContext context = TestContext.with(it -> it.withPostProcessor(Map.of("order", 7)))) {
            assertThat(context.getBean(VirtualThreadBeanPostProcessor.class).getOrder())
                    .isEqualTo(7);
        }
    }

    @Test
    void methodsOfOneClassMayBeAsyncAndOthersVirtual() throws Exception {
        try (TestContext context = TestContext.of(Async.class, AsyncMailer.class)) {
            AsyncMailer mailer = context.getBean(AsyncMailer.class);

            assertThat(mailer.virtual().get(120, SECONDS).getName()).startsWith("vt-AsyncMailer.virtual");
            assertThat(mailer.async().get(120, SECONDS).getName()).startsWith("SimpleAsync");
            assertThat(context.check().mistakes()).isEmpty();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync(proxyTargetClass = true)
    static class Async {}

    static class AsyncMailer {
        @VirtualThread
        CompletableFuture<Thread> virtual() {
            return completedFuture(Thread.currentThread());
        }

        @org.springframework.scheduling.annotation.Async
        CompletableFuture<Thread> async() {
            return completedFuture(Thread.currentThread());
        }
    }

    @Test
    void noStartTakesBeansOutOfPostProcessing() {
        try (Logs logs = new Logs();
                TestContext context = TestContext.of(Async.class, Aspects.class, Mailer.class, SenderFactory.class)) {
            context.check();
            assertThat(logs.messages(Level.INFO)).noneMatch(message -> message.contains("not eligible"));
        }
    }

    @Test
    void theTypeThatAotPredictsIsTheProxyOrTheClassItselfWhereThereIsNone() {
        try (TestContext context = TestContext.of()) {
            var processor = context.getBean(VirtualThreadBeanPostProcessor.class);

            assertThat(processor.determineBeanType(Mailer.class, "mailer")).isNotSameAs(Mailer.class);
            assertThat(processor.determineBeanType(FinalMailer.class, "mailer")).isSameAs(FinalMailer.class);
            assertThat(processor.determineBeanType(String.class, "text")).isSameAs(String.class);
        }
    }

    interface Sender {
        @VirtualThread
        CompletableFuture<Thread> send();
    }

    static final class FinalSender implements Sender {
        @Override
        public final CompletableFuture<Thread> send() {
            return completedFuture(Thread.currentThread());
        }
    }

    static class SenderFactory implements FactoryBean<Sender> {
        @Override
        public Sender getObject() {
            return () -> completedFuture(Thread.currentThread());
        }

        @Override
        public Class<?> getObjectType() {
            return Sender.class;
        }
    }

    static class RepositoryFactory implements FactoryBean<Sender> {
        @Override
        public Sender getObject() {
            var factory = new ProxyFactory(new Object());
            factory.setInterfaces(Sender.class);
            factory.addAdvice((MethodInterceptor) invocation -> completedFuture(Thread.currentThread()));
            return (Sender) factory.getProxy();
        }

        @Override
        public Class<?> getObjectType() {
            return Sender.class;
        }
    }

    static class Mailer {
        @VirtualThread
        CompletableFuture<Thread> send() {
            return completedFuture(Thread.currentThread());
        }

        @VirtualThread("mail")
        CompletableFuture<Thread> limited() {
            return completedFuture(Thread.currentThread());
        }
    }

    @Scope(scopeName = "thread", proxyMode = ScopedProxyMode.TARGET_CLASS)
    static class ScopedMailer extends Mailer {}

    @Lazy
    static class LazyMailer extends Mailer {}

    @Scope("prototype")
    static class PrototypeMailer extends Mailer {}

    static final class FinalMailer {
        @VirtualThread
        void send() {}
    }

    static class Misspelt implements Runnable {
        @Override
        @VirtualThread("mial")
        public void run() {}
    }
}
