package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.CustomScopeConfigurer;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.SimpleThreadScope;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.SyncTaskExecutor;
import org.springframework.core.task.TaskExecutor;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.AsyncConfigurer;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.concurrent.ConcurrentTaskExecutor;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.scheduling.config.TaskExecutorFactoryBean;
import org.springframework.security.task.DelegatingSecurityContextAsyncTaskExecutor;

/** The ways in which applications declare executors: where {@code @Async} then runs, how many at once, and what the start says. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class AsyncDeclarationsTests {

    private static final String EXECUTORS = "virtual-thread.async.executors.";
    private static final String MAIL = EXECUTORS + "mailExecutor=mail";
    private static final String TASK = EXECUTORS + "taskExecutor=mail";
    private static final String COMMON = "virtual-thread.async.limit=common";

    /** Begins the names of threads of calls under a limit. */
    private static final String LIMITED = "vt-Service.";

    private static final int PERMITS = 2;

    private final ApplicationContextRunner plain = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    VirtualThreadAutoConfiguration.class,
                    VirtualThreadAsyncAutoConfiguration.class,
                    TaskExecutionAutoConfiguration.class,
                    TaskSchedulingAutoConfiguration.class,
                    Late.class))
            .withBean(Service.class)
            .withPropertyValues(
                    "virtual-thread.limits.common.permits=" + PERMITS, "virtual-thread.limits.mail.permits=" + PERMITS);

    static List<Declaration> held() {
        return List.of(
                the("pool")
                        .of(MailPool.class)
                        .with(MAIL)
                        .runs("both", "both")
                        .says("@Async: 2 methods under limit mail;"),
                the("pool, for @Async without a name")
                        .of(MailPool.class)
                        .with(COMMON)
                        .runs("plain", "mailpool-")
                        .says(
                                "@Async Service.mail runs on 'mailExecutor', a ThreadPoolTaskExecutor, which is not the executor of a limit"),
                the("pool, nothing asked for").of(MailPool.class).runs("mailpool-", "mailpool-"),
                the("pool, asked for in vain")
                        .of(MailPool.class)
                        .with(EXECUTORS + "mailExecutor=")
                        .runs("mailpool-", "mailpool-"),
                the("pool, interception is off")
                        .of(MailPool.class)
                        .with(MAIL, COMMON, "virtual-thread.enabled=false")
                        .runs("mailpool-", "mailpool-"),
                the("two pools")
                        .of(MailPool.class, ReportPool.class)
                        .with(MAIL, COMMON)
                        .runs("plain", "mail"),
                the("pool as Executor").of(PoolAsExecutor.class).with(MAIL).runs("both", "both"),
                the("alias").of(MailPool.class).with(EXECUTORS + "mails=mail").runs("both", "both"),
                the("lazy")
                        .of(MailPool.class)
                        .with(MAIL, "spring.main.lazy-initialization=true")
                        .runs("both", "both"),
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
                the("product of a factory").of(Factory.class).with(MAIL).runs("both", "both"),
                the("no candidate by default").of(NoCandidate.class).with(MAIL).runs("task-", "mail"),
                the("second executor around the first")
                        .of(Around.class)
                        .with(TASK)
                        .runs("plain", "vt-taskExecutor-"),
                the("later auto-configuration")
                        .of(EnableLate.class)
                        .with(EXECUTORS + "lateExecutor=mail")
                        .runs("both", null),
                the("configurer with a bean of its class")
                        .of(OwnPool.class)
                        .with(TASK)
                        .runs("plain", null),
                the("configurer with a bean as Executor")
                        .of(OwnExecutor.class)
                        .with(TASK)
                        .runs("plain", null),
                the("configurer that calls the method of the bean itself")
                        .of(OwnPoolTwice.class)
                        .with(TASK)
                        .runs("own-", null)
                        .says(
                                "@Async Service.plain runs on a ThreadPoolTaskExecutor, which is not the executor of a limit"),
                the("configurer, and a limit for @Async")
                        .of(OwnPool.class)
                        .with(COMMON)
                        .runs("plain", null)
                        .says(
                                "OwnPool.getAsyncExecutor() is not used for @Async, because virtual-thread.async.limit is set"),
                the("proxy before a proxy")
                        .of(SecondProxies.class, OwnPool.class)
                        .with(COMMON)
                        .runs("plain", null),
                the("Spring Boot's").with(COMMON).runs("plain", null).says("@Async: 1 method under limit common"),
                the("Spring Boot's by name")
                        .with(EXECUTORS + "applicationTaskExecutor=mail")
                        .runs("plain", null),
                the("Spring Boot's on virtual threads")
                        .with(EXECUTORS + "applicationTaskExecutor=mail", "spring.threads.virtual.enabled=true")
                        .runs("plain", null),
                the("Spring Boot's beside a scheduler")
                        .of(Scheduling.class)
                        .with(COMMON)
                        .runs("plain", null));
    }

    static List<Declaration> refused() {
        String spelling = "Did you mean 'mailExecutor'?";
        return List.of(
                the("misspelt")
                        .of(MailPool.class)
                        .with(EXECUTORS + "mailExecuter=mail")
                        .says(spelling),
                the("with a dash")
                        .of(MailPool.class)
                        .with(EXECUTORS + "mail-executor=mail")
                        .says(spelling),
                the("in lower case")
                        .of(MailPool.class)
                        .with(EXECUTORS + "mailexecutor=mail")
                        .says(spelling),
                the("as a variable").of(MailPool.class).says(spelling),
                the("no such name")
                        .of(MailPool.class)
                        .with(EXECUTORS + "reports=mail")
                        .says("there is no bean 'reports'"),
                the("Spring Boot's beside another")
                        .of(MailPool.class)
                        .with(EXECUTORS + "applicationTaskExecutor=mail")
                        .says(
                                "there is no bean 'applicationTaskExecutor', as Spring Boot makes none beside other executors"),
                the("no such limit")
                        .of(MailPool.class)
                        .with(EXECUTORS + "mailExecutor=mial")
                        .says("Did you mean 'mail'?"),
                the("no such limit, lazy")
                        .of(MailPool.class)
                        .with(EXECUTORS + "mailExecutor=mial", "spring.main.lazy-initialization=true")
                        .says("Did you mean 'mail'?"),
                the("scheduler").of(Scheduler.class).with(MAIL).says("the bean 'mailExecutor' is a scheduler"),
                the("scheduler as Executor")
                        .of(SchedulerAsExecutor.class)
                        .with(MAIL)
                        .says("is a scheduler"),
                the("scheduler that makes threads")
                        .of(SimpleScheduler.class)
                        .with(MAIL)
                        .says("is a scheduler"),
                the("scheduler of the JDK").of(JdkScheduler.class).with(MAIL).says("is a scheduler"),
                the("Spring Boot's scheduler")
                        .of(Scheduling.class)
                        .with(EXECUTORS + "taskScheduler=mail")
                        .says("is a scheduler"),
                the("class of the JDK")
                        .of(JdkPool.class)
                        .with(MAIL)
                        .says("is declared as java.util.concurrent.ThreadPoolExecutor"),
                the("class that nobody may extend")
                        .of(SealedClass.class)
                        .with(MAIL)
                        .says("$Sealed, of which there can be no proxy under a limit: declare it as Executor"),
                the("class with a final method for tasks")
                        .of(FinalMethod.class)
                        .with(MAIL)
                        .says(
                                "is declared as ",
                                "$Final, of which there can be no proxy under a limit: declare it as Executor"),
                the("class whose futures are of its own")
                        .of(OwnFutures.class)
                        .with(MAIL)
                        .says("$Futures, of which there can be no proxy under a limit: declare it as Executor"),
                the("product that is no executor")
                        .of(Product.class)
                        .with(MAIL)
                        .says("is a java.lang.String, not an executor"));
    }

    @ParameterizedTest
    @MethodSource("held")
    void whereCallsRun(Declaration declaration, CapturedOutput output) {
        declaration.start(plain).withUserConfiguration(Asynchronous.class).run(context -> {
            assertThat(context).hasNotFailed();
            Calls service = context.getBean(Calls.class);
            assertThat(service.plain(open()).get(2, TimeUnit.MINUTES))
                    .startsWith(declaration.thread(declaration.plain));
            if (declaration.mail != null) {
                assertThat(service.mail(open()).get(2, TimeUnit.MINUTES))
                        .startsWith(declaration.thread(declaration.mail));
            }
            if (declaration.mail != null && declaration.thread(declaration.mail).startsWith(LIMITED)) {
                mailsAreBounded(context, service);
            }
            String log = output.getAll().replace(AsyncDeclarationsTests.class.getName() + "$", "");
            assertThat(declaration.says).allSatisfy(text -> assertThat(log).contains(text));
        });
    }

    private static CountDownLatch open() {
        return new CountDownLatch(0);
    }

    private static void mailsAreBounded(ApplicationContext context, Calls service) throws Exception {
        TaskLimit limit = context.getBean(TaskLimits.class).get("mail");
        CountDownLatch gate = new CountDownLatch(1);
        List<CompletableFuture<String>> calls = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            calls.add(service.mail(gate));
        }
        assertThat(limit.inUse()).isEqualTo(PERMITS);
        assertThat(limit.waiting()).isEqualTo(5 - PERMITS);
        gate.countDown();
        for (CompletableFuture<String> call : calls) {
            call.get(2, TimeUnit.MINUTES);
        }
    }

    @ParameterizedTest
    @MethodSource("refused")
    void whatFailsTheStart(Declaration declaration) {
        ApplicationContextRunner start = declaration.name.equals("as a variable")
                ? plain.withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addFirst(new SystemEnvironmentPropertySource(
                                "systemEnvironment", Map.of("VIRTUALTHREAD_ASYNC_EXECUTORS_MAILEXECUTOR", "mail"))))
                : plain;
        declaration.start(start).withUserConfiguration(Asynchronous.class).run(context -> assertThat(context)
                .getFailure()
                .hasMessageContainingAll(declaration.says));
    }

    private static Declaration the(String name) {
        return new Declaration(name);
    }

    /** One application. The thread of a call is that of the limit if it is none of a pool. */
    static final class Declaration {

        private final String name;
        private Class<?>[] sources = {};
        private String[] properties = {};
        private String plain = "";
        private String mail;
        private String[] says = {};

        Declaration(String name) {
            this.name = name;
        }

        Declaration of(Class<?>... configurations) {
            sources = configurations;
            return this;
        }

        Declaration with(String... values) {
            properties = values;
            return this;
        }

        /** Of the method without a name, and of that with the name of the executor, null if there is none. */
        Declaration runs(String unnamed, String named) {
            plain = unnamed.equals("both") ? "plain" : unnamed;
            mail = "both".equals(named) ? "mail" : named;
            return this;
        }

        Declaration says(String... texts) {
            says = texts;
            return this;
        }

        String thread(String where) {
            return where.endsWith("-") ? where : LIMITED + where + "-";
        }

        ApplicationContextRunner start(ApplicationContextRunner runner) {
            return runner.withUserConfiguration(sources).withPropertyValues(properties);
        }

        @Override
        public String toString() {
            return name + " " + Arrays.toString(properties);
        }
    }

    interface Calls {

        CompletableFuture<String> plain(CountDownLatch gate) throws InterruptedException;

        CompletableFuture<String> mail(CountDownLatch gate) throws InterruptedException;
    }

    static class Service implements Calls {

        @Async
        @Override
        public CompletableFuture<String> plain(CountDownLatch gate) throws InterruptedException {
            gate.await();
            return CompletableFuture.completedFuture(Thread.currentThread().getName());
        }

        @Async("mailExecutor")
        @Override
        public CompletableFuture<String> mail(CountDownLatch gate) throws InterruptedException {
            return plain(gate);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync(proxyTargetClass = true)
    static class Asynchronous {}

    private static ThreadPoolTaskExecutor pool(String name) {
        ThreadPoolTaskExecutor pool = new ThreadPoolTaskExecutor();
        pool.setCorePoolSize(10);
        pool.setThreadNamePrefix(name + "-");
        return pool;
    }

    @Configuration(proxyBeanMethods = false)
    static class MailPool {

        @Bean({"mailExecutor", "mails"})
        ThreadPoolTaskExecutor mailExecutor() {
            return pool("mailpool");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ReportPool {

        @Bean
        ThreadPoolTaskExecutor reportExecutor() {
            return pool("reportpool");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class PoolAsExecutor {

        @Bean
        Executor mailExecutor() {
            return pool("mailpool");
        }
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
    static class NoCandidate {

        @Bean(defaultCandidate = false)
        ThreadPoolTaskExecutor mailExecutor() {
            return pool("mailpool");
        }
    }

    @Configuration
    static class Around {

        @Bean
        ThreadPoolTaskExecutor taskExecutor() {
            return pool("other");
        }

        @Bean
        Executor mailExecutor() {
            return new ConcurrentTaskExecutor(taskExecutor());
        }
    }

    @AutoConfiguration(after = VirtualThreadAsyncAutoConfiguration.class)
    static class Late {

        @Bean
        @ConditionalOnBean(EnableLate.class)
        @ConditionalOnMissingBean(Executor.class)
        ThreadPoolTaskExecutor lateExecutor() {
            return pool("late");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class EnableLate {}

    @Configuration
    static class OwnPool implements AsyncConfigurer {

        @Bean
        ThreadPoolTaskExecutor taskExecutor() {
            return pool("own");
        }

        @Override
        public Executor getAsyncExecutor() {
            return taskExecutor();
        }
    }

    @Configuration
    static class OwnExecutor implements AsyncConfigurer {

        @Bean
        Executor taskExecutor() {
            return pool("own");
        }

        @Override
        public Executor getAsyncExecutor() {
            return taskExecutor();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnPoolTwice implements AsyncConfigurer {

        @Bean
        ThreadPoolTaskExecutor taskExecutor() {
            ThreadPoolTaskExecutor own = pool("own");
            own.setDaemon(true);
            own.initialize();
            return own;
        }

        @Override
        public Executor getAsyncExecutor() {
            return taskExecutor();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class SecondProxies {

        @Bean
        static DefaultAdvisorAutoProxyCreator secondProxies() {
            DefaultAdvisorAutoProxyCreator creator = new DefaultAdvisorAutoProxyCreator();
            creator.setProxyTargetClass(true);
            return creator;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    static class Scheduling {}

    @Configuration(proxyBeanMethods = false)
    static class Scheduler {

        @Bean
        ThreadPoolTaskScheduler mailExecutor() {
            return new ThreadPoolTaskScheduler();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class SchedulerAsExecutor {

        @Bean
        Executor mailExecutor() {
            return new ThreadPoolTaskScheduler();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class SimpleScheduler {

        @Bean
        SimpleAsyncTaskScheduler mailExecutor() {
            return new SimpleAsyncTaskScheduler();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class JdkScheduler {

        @Bean
        ScheduledExecutorService mailExecutor() {
            return Executors.newScheduledThreadPool(1);
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
    static class SealedClass {

        @Bean
        Sealed mailExecutor() {
            return new Sealed();
        }

        @SuppressWarnings("serial")
        static sealed class Sealed extends ThreadPoolTaskExecutor permits Permitted {}

        @SuppressWarnings("serial")
        static final class Permitted extends Sealed {}
    }

    @Configuration(proxyBeanMethods = false)
    static class FinalMethod {

        @Bean
        Final mailExecutor() {
            return new Final();
        }

        @SuppressWarnings("serial")
        static class Final extends ThreadPoolTaskExecutor {

            @Override
            public final void execute(Runnable task) {
                super.execute(task);
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnFutures {

        @Bean
        Futures mailExecutor() {
            return new Futures();
        }

        @SuppressWarnings("serial")
        static class Futures extends ThreadPoolTaskExecutor {

            @Override
            public FutureTask<?> submit(Runnable task) {
                FutureTask<?> future = new FutureTask<>(task, null);
                execute(future);
                return future;
            }
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

    @Configuration(proxyBeanMethods = false)
    static class JdkPool {

        @Bean
        ThreadPoolExecutor mailExecutor() {
            return new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Product {

        @Bean
        FactoryBean<?> mailExecutor() {
            return new FactoryBean<String>() {
                @Override
                public String getObject() {
                    return "no executor";
                }

                @Override
                public Class<?> getObjectType() {
                    return String.class;
                }
            };
        }
    }
}
