package io.github.virtualthread.autoconfigure.async;

import java.util.List;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.AsyncConfigurer;
import org.springframework.scheduling.concurrent.ConcurrentTaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/** The ways in which applications declare an executor: where {@code @Async} then runs, how many at once, and what the start says. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class AsyncDeclarationsTests extends ExecutorDeclarations {

    private static final String TASK = EXECUTORS + "taskExecutor=mail";

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

    @ParameterizedTest
    @MethodSource("held")
    void whereCallsRun(Declaration declaration, CapturedOutput output) {
        assertCallsRunWhereItSays(declaration, output);
    }

    @Configuration(proxyBeanMethods = false)
    static class PoolAsExecutor {

        @Bean
        Executor mailExecutor() {
            return pool("mailpool");
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
}
