package io.github.virtualthread.aop;

import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.aop.Findings.AdvisedMethod;
import io.github.virtualthread.mistake.Mistake;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanNameAware;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;

/** Annotations on classes that implement interfaces of Spring. */
@Timeout(300)
class CalledBySpringTests {

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aListenerHearsItsKindOfEventOnAVirtualThread(boolean classProxy) throws InterruptedException {
        Listener listener;
        try (TestContext context = TestContext.with(it -> {
            if (!classProxy) {
                it.withInterfaceProxies();
            }
            it.registerBean(Listener.class);
        })) {
            ApplicationListener<?> bean =
                    context.getBeanProvider(ApplicationListener.class).getObject();
            assertThat(AopUtils.isCglibProxy(bean)).isEqualTo(classProxy);
            listener = (Listener) VirtualThreadBeanPostProcessor.rawTarget(bean);
            assertThat(listener.threads.take()).matches(Thread::isVirtual);
            Findings findings = context.check();
            assertThat(findings.mistakes()).isEmpty();
            assertThat(findings.methods())
                    .extracting(AdvisedMethod::method)
                    .containsExactly(Listener.class.getName() + ".onApplicationEvent");
        }
        assertThat(listener.threads).isEmpty();
    }

    @VirtualThread
    static class Listener implements ApplicationListener<ContextRefreshedEvent> {

        final BlockingQueue<Thread> threads = new LinkedBlockingQueue<>();

        @Override
        public void onApplicationEvent(ContextRefreshedEvent event) {
            threads.add(Thread.currentThread());
        }
    }

    @Test
    void anAnnotatedCallbackThatSpringCallsOnTheBeanItselfIsReported() {
        Cache cache;
        try (TestContext context = TestContext.of(Cache.class)) {
            cache = (Cache) VirtualThreadBeanPostProcessor.rawTarget(context.getBean(Cache.class));
            String bypasses =
                    " on the bean itself: the call bypasses the proxy, which applies @VirtualThread, so it runs on"
                            + " the caller's thread and takes no permit";

            assertThat(context.check().selfInvocations())
                    .extracting(Mistake::description)
                    .containsExactlyInAnyOrder(
                            "Spring calls " + Cache.class.getName() + ".load (@PostConstruct)" + bypasses,
                            "Spring calls " + Cache.class.getName() + ".setBeanName (BeanNameAware)" + bypasses,
                            "Spring calls " + Cache.class.getName() + ".afterPropertiesSet (InitializingBean)"
                                    + bypasses,
                            "Spring calls " + Cache.class.getName() + ".save (@PreDestroy)" + bypasses,
                            "Spring calls " + Cache.class.getName() + ".destroy (DisposableBean)" + bypasses);
        }

        assertThat(cache.driving).hasSize(5).containsOnly(Thread.currentThread());
    }

    @Test
    void anAnnotatedCallbackThatSpringCallsThroughTheProxyIsNotReported() throws InterruptedException {
        try (TestContext context = TestContext.of(Warmer.class)) {
            Warmer warmer = (Warmer) VirtualThreadBeanPostProcessor.rawTarget(context.getBean(Warmer.class));

            assertThat(context.check().selfInvocations()).isEmpty();
            assertThat(warmer.driving.poll(2, MINUTES)).matches(Thread::isVirtual);
        }
    }

    @Test
    void aWovenCallbackIsNotReported() {
        try (TestContext context =
                TestContext.with(Map.of("virtual-thread.mode", "aspectj"), null, each -> each.register(Cache.class))) {
            assertThat(context.check().selfInvocations()).isEmpty();
        }
    }

    static class Cache implements BeanNameAware, InitializingBean, DisposableBean {

        final BlockingQueue<Thread> driving = new LinkedBlockingQueue<>();

        @VirtualThread
        @PostConstruct
        public void load() {
            driving.add(Thread.currentThread());
        }

        @VirtualThread
        @Override
        public void setBeanName(String name) {
            driving.add(Thread.currentThread());
        }

        @VirtualThread
        @Override
        public void afterPropertiesSet() {
            driving.add(Thread.currentThread());
        }

        @VirtualThread
        @PreDestroy
        public void save() {
            driving.add(Thread.currentThread());
        }

        @VirtualThread
        @Override
        public void destroy() {
            driving.add(Thread.currentThread());
        }
    }

    static class Warmer implements SmartInitializingSingleton {

        final BlockingQueue<Thread> driving = new LinkedBlockingQueue<>();

        @VirtualThread
        @Override
        public void afterSingletonsInstantiated() {
            driving.add(Thread.currentThread());
        }
    }
}
