package io.github.virtualthread.autoconfigure.async;

import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.CustomScopeConfigurer;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.SimpleThreadScope;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.SyncTaskExecutor;
import org.springframework.core.task.TaskExecutor;
import org.springframework.scheduling.concurrent.ConcurrentTaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.scheduling.config.TaskExecutorFactoryBean;
import org.springframework.security.task.DelegatingSecurityContextAsyncTaskExecutor;

/** Executors of all kinds: of Spring, of the JDK, of the application, and wrapped by others. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class AsyncExecutorKindsTests extends ExecutorDeclarations {

    static List<Declaration> kinds() {
        return List.of(
                the("fixed pool of the JDK beside a pool of Spring, nothing asked for")
                        .of(FixedPool.class, ReportPool.class)
                        .runs("reportpool-", "fixed-"),
                the("fixed pool of the JDK beside a pool of Spring")
                        .of(FixedPool.class, ReportPool.class)
                        .with(MAIL)
                        .runs("reportpool-", "mail")
                        .says("@Async Service.plain runs on 'reportExecutor'"),
                the("fixed pool of the JDK").of(FixedPool.class).with(MAIL).runs("SimpleAsyncTaskExecutor-", "mail"),
                the("executor that runs on the caller's thread")
                        .of(OnCallersThread.class)
                        .with(MAIL)
                        .runs("both", "both"),
                the("adapter as AsyncTaskExecutor").of(Adapter.class).with(MAIL).runs("both", "both"),
                the("class of the application").of(OwnClass.class).with(MAIL).runs("both", "both"),
                the("class of the application that nobody sees")
                        .of(PrivateClass.class)
                        .with(MAIL)
                        .runs("both", "both"),
                the("class of Spring Security whose methods are final")
                        .of(Secured.class)
                        .with(MAIL)
                        .runs("both", "both"),
                the("class whose futures are of its own, as Executor")
                        .of(OwnFuturesAsExecutor.class)
                        .with(MAIL)
                        .runs("both", "both"),
                the("interface whose futures are of its own, as Executor")
                        .of(OwnInterfaceAsExecutor.class)
                        .with(MAIL)
                        .runs("SimpleAsyncTaskExecutor-", "mail"),
                the("pool that a post-processor proxies by its interfaces")
                        .of(ProxiedPool.class)
                        .with(MAIL)
                        .runs("both", "both"),
                the("pool of a scope whose proxy nobody may replace")
                        .of(Refreshed.class)
                        .with(MAIL)
                        .runs("both", "both")
                        .says("@Async: 2 methods under limit mail;"),
                the("methods that a post-processor wraps")
                        .of(WrappedService.class)
                        .with(COMMON)
                        .runs("plain", null),
                the("virtual threads of the JDK")
                        .of(JdkService.class)
                        .with(MAIL)
                        .runs("SimpleAsyncTaskExecutor-", "mail"),
                the("executor that makes threads").of(Simple.class).with(MAIL).runs("both", "both"),
                the("product of a factory").of(Factory.class).with(MAIL).runs("both", "both"));
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void itsCallsRunUnderTheLimit(Declaration declaration, CapturedOutput output) {
        assertCallsRunWhereItSays(declaration, output);
    }

    @Configuration(proxyBeanMethods = false)
    static class FixedPool {

        @Bean
        Executor mailExecutor() {
            return Executors.newFixedThreadPool(
                    10, Thread.ofPlatform().name("fixed-", 0).factory());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OnCallersThread {

        @Bean
        TaskExecutor mailExecutor() {
            return new SyncTaskExecutor();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Adapter {

        @Bean
        AsyncTaskExecutor mailExecutor() {
            return new ConcurrentTaskExecutor(Runnable::run);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Simple {

        @Bean
        SimpleAsyncTaskExecutor mailExecutor() {
            return new SimpleAsyncTaskExecutor();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Factory {

        @Bean
        TaskExecutorFactoryBean mailExecutor() {
            return new TaskExecutorFactoryBean();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnClass {

        @Bean
        Mails mailExecutor() {
            return new Mails();
        }

        @SuppressWarnings("serial")
        static class Mails extends ThreadPoolTaskExecutor {}
    }

    @Configuration(proxyBeanMethods = false)
    static class PrivateClass {

        @Bean
        Executor mailExecutor() {
            return new Hidden();
        }

        @SuppressWarnings("serial")
        private static class Hidden extends ThreadPoolTaskExecutor {}
    }

    @Configuration(proxyBeanMethods = false)
    static class Secured {

        @Bean
        AsyncTaskExecutor mailExecutor() {
            return new DelegatingSecurityContextAsyncTaskExecutor(new SimpleAsyncTaskExecutor());
        }
    }

    /** Its pool is a listener of one kind of event, as its generic interface says. */
    @Configuration(proxyBeanMethods = false)
    static class ProxiedPool {

        @Bean
        Executor mailExecutor() {
            return pool("mailpool");
        }

        @Bean
        static BeanPostProcessor proxies() {
            return new BeanPostProcessor() {
                @Override
                public Object postProcessAfterInitialization(Object bean, String name) {
                    return name.equals("mailExecutor") ? new ProxyFactory(bean).getProxy() : bean;
                }
            };
        }
    }

    /** As Spring Cloud has it for beans that are made anew when properties change. */
    @Configuration(proxyBeanMethods = false)
    static class Refreshed {

        @Bean
        static BeanDefinitionRegistryPostProcessor scope() {
            return registry -> {
                CustomScopeConfigurer scopes = new CustomScopeConfigurer();
                scopes.addScope("refresh", new SimpleThreadScope());
                scopes.postProcessBeanFactory((ConfigurableListableBeanFactory) registry);
                ((AbstractBeanDefinition) registry.getBeanDefinition("mailExecutor")).setSynthetic(true);
            };
        }

        @Bean
        @Scope(scopeName = "refresh", proxyMode = ScopedProxyMode.TARGET_CLASS)
        ThreadPoolTaskExecutor mailExecutor() {
            return pool("mailpool");
        }
    }

    /** The proxy of an interface around that of Spring, which nobody can look into. */
    @Configuration(proxyBeanMethods = false)
    static class WrappedService {

        @Bean
        static BeanPostProcessor wraps() {
            return new BeanPostProcessor() {
                @Override
                public Object postProcessAfterInitialization(Object bean, String name) {
                    return bean instanceof Calls
                            ? Proxy.newProxyInstance(
                                    bean.getClass().getClassLoader(),
                                    new Class<?>[] {Calls.class},
                                    (proxy, method, arguments) -> method.invoke(bean, arguments))
                            : bean;
                }
            };
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnFuturesAsExecutor {

        @Bean
        Executor mailExecutor() {
            return new OwnFutures.Futures();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnInterfaceAsExecutor {

        @Bean
        Executor mailExecutor() {
            return new Submitter();
        }

        interface Submits extends Executor {

            FutureTask<?> submit(Runnable task);
        }

        record Submitter() implements Submits {

            @Override
            public FutureTask<?> submit(Runnable task) {
                return new FutureTask<>(task, null);
            }

            @Override
            public void execute(Runnable task) {
                task.run();
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class JdkService {

        @Bean
        ExecutorService mailExecutor() {
            return Executors.newVirtualThreadPerTaskExecutor();
        }
    }
}
