package io.github.virtualthread.autoconfigure.async;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/** Entries for executors that fail the start. */
@Timeout(300)
class AsyncRefusedExecutorsTests extends ExecutorDeclarations {

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
