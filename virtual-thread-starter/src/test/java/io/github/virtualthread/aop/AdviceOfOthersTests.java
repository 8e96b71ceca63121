package io.github.virtualthread.aop;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.EnableAspectJAutoProxy;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

@Timeout(300)
class AdviceOfOthersTests {

    @Test
    void aTransactionBeginsAndEndsOnTheVirtualThread() throws Exception {
        try (TestContext context = TestContext.of(Transactions.class, Orders.class)) {
            Thread body = context.getBean(Orders.class).place().get(120, SECONDS);

            assertThat(body.isVirtual()).isTrue();
            assertThat(context.getBean(Recorder.class).events)
                    .containsExactly("begin on " + body.getName(), "commit on " + body.getName());
        }
    }

    @Test
    void anAspectOfHighestPrecedenceRunsOnTheVirtualThreadToo() throws Exception {
        try (TestContext context = TestContext.of(Aspects.class, Transactions.class, Orders.class)) {
            Thread body = context.getBean(Orders.class).place().get(120, SECONDS);

            assertThat(context.getBean(Outermost.class).threads).containsExactly(body);
            assertThat(context.getBean(Recorder.class).events).hasSize(2);
        }
    }

    @Test
    void anAspectSeesItsJoinPointAndTheExposedInvocation() throws Exception {
        try (TestContext context = TestContext.of(Aspects.class, Orders.class)) {
            assertThat(context.getBean(Orders.class).ship("now").get(120, SECONDS))
                    .isEqualTo("NOW");
            assertThat(context.getBean(Inner.class).invocation.getMethod().getName())
                    .isEqualTo("ship");
        }
    }

    @Test
    void ourAdviceIsFirstAlsoBeforePostProcessorsThatPutThemselvesInFront() throws Exception {
        for (boolean classProxy : new boolean[] {true, false}) {
            try (TestContext context = TestContext.with(it -> {
                if (!classProxy) {
                    it.withInterfaceProxies();
                }
                it.register(Aspects.class, Retry.class, RemoteOrders.class);
            })) {
                Remote remote = context.getBean(Remote.class);

                assertThat(remote.call().get(120, SECONDS)).isEqualTo("second attempt");
                assertThat(((Advised) remote).getAdvisors()[0]).isInstanceOf(VirtualThreadAdvisor.class);
            }
        }
    }

    static class Orders {

        @VirtualThread
        @Transactional
        @Traced
        public CompletableFuture<Thread> place() {
            return completedFuture(Thread.currentThread());
        }

        @VirtualThread
        @Traced
        public CompletableFuture<String> ship(String when) {
            return completedFuture(when);
        }
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface Traced {}

    @Configuration(proxyBeanMethods = false)
    @EnableAspectJAutoProxy
    static class Aspects {
        @Bean
        Outermost outermost() {
            return new Outermost();
        }

        @Bean
        Inner inner() {
            return new Inner();
        }
    }

    /** Outside of Spring's own ExposeInvocationInterceptor. */
    @Aspect
    @Order(Ordered.HIGHEST_PRECEDENCE)
    static class Outermost {

        final BlockingQueue<Thread> threads = new LinkedBlockingQueue<>();

        @Around("@annotation(io.github.virtualthread.VirtualThread)")
        Object around(ProceedingJoinPoint joinPoint) throws Throwable {
            threads.add(Thread.currentThread());
            return joinPoint.proceed();
        }
    }

    @Aspect
    static class Inner {

        volatile MethodInvocation invocation;

        @Around("@annotation(traced) && args(when)")
        Object around(ProceedingJoinPoint joinPoint, Traced traced, String when) throws Throwable {
            invocation = ExposeInvocationInterceptor.currentInvocation();
            return joinPoint.proceed(new Object[] {when.toUpperCase()});
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(proxyTargetClass = true)
    static class Transactions {
        @Bean
        Recorder transactionManager() {
            return new Recorder();
        }
    }

    @SuppressWarnings("serial")
    static class Recorder extends AbstractPlatformTransactionManager implements PlatformTransactionManager {

        final BlockingQueue<String> events = new LinkedBlockingQueue<>();

        @Override
        protected Object doGetTransaction() {
            return new Object();
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {
            events.add("begin on " + Thread.currentThread().getName());
        }

        @Override
        protected void doCommit(DefaultTransactionStatus status) {
            events.add("commit on " + Thread.currentThread().getName());
        }

        @Override
        protected void doRollback(DefaultTransactionStatus status) {
            events.add("rollback on " + Thread.currentThread().getName());
        }
    }

    interface Remote {
        CompletableFuture<String> call();
    }

    static class RemoteOrders implements Remote {

        private int attempts;

        @Override
        @VirtualThread("mail")
        @Traced
        public CompletableFuture<String> call() {
            if (++attempts == 1) {
                throw new IllegalStateException("first attempt");
            }
            return completedFuture(Thread.currentThread().isVirtual() ? "second attempt" : "caller");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Retry {
        @Bean
        static RetryPostProcessor retryPostProcessor() {
            return new RetryPostProcessor();
        }
    }

    /** Like those of Spring 7 for {@code @Retryable} and {@code @ConcurrencyLimit}. */
    @SuppressWarnings("serial")
    static class RetryPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor {
        RetryPostProcessor() {
            setBeforeExistingAdvisors(true);
            setProxyTargetClass(true);
            setOrder(Ordered.LOWEST_PRECEDENCE - 1);
            NameMatchMethodPointcut pointcut = new NameMatchMethodPointcut();
            pointcut.setClassFilter(Remote.class::isAssignableFrom);
            pointcut.addMethodName("call");
            advisor = new DefaultPointcutAdvisor(pointcut, (MethodInterceptor) RetryPostProcessor::twice);
        }

        private static Object twice(MethodInvocation invocation) throws Throwable {
            try {
                return ((ProxyMethodInvocation) invocation).invocableClone().proceed();
            } catch (IllegalStateException failure) {
                return invocation.proceed();
            }
        }
    }
}
