package io.github.virtualthread.autoconfigure.async;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.autoconfigure.VirtualThreadAsyncAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/** Applications that declare executors, a service with {@code @Async}, and where its calls then run. */
abstract class ExecutorDeclarations {

    static final String EXECUTORS = "virtual-thread.async.executors.";
    static final String MAIL = EXECUTORS + "mailExecutor=mail";

    static final String COMMON = "virtual-thread.async.limit=common";

    /** Begins the names of threads of calls under a limit. */
    static final String LIMITED = "vt-Service.";

    static final int PERMITS = 2;

    final ApplicationContextRunner plain = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    VirtualThreadAutoConfiguration.class,
                    VirtualThreadAsyncAutoConfiguration.class,
                    TaskExecutionAutoConfiguration.class,
                    TaskSchedulingAutoConfiguration.class,
                    Late.class))
            .withBean(Service.class)
            .withPropertyValues(
                    "virtual-thread.limits.common.permits=" + PERMITS, "virtual-thread.limits.mail.permits=" + PERMITS);

    void assertCallsRunWhereItSays(Declaration declaration, CapturedOutput output) {
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
            String log = output.getAll().replaceAll(getClass().getPackageName() + "\\.\\w+\\$", "");
            assertThat(declaration.says).allSatisfy(text -> assertThat(log).contains(text));
        });
    }

    static CountDownLatch open() {
        return new CountDownLatch(0);
    }

    static void mailsAreBounded(ApplicationContext context, Calls service) throws Exception {
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

    static Declaration the(String name) {
        return new Declaration(name);
    }

    /** One application. The thread of a call is that of the limit if it is none of a pool. */
    static final class Declaration {

        final String name;
        Class<?>[] sources = {};
        String[] properties = {};
        String plain = "";
        String mail;
        String[] says = {};

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

    static ThreadPoolTaskExecutor pool(String name) {
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

    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    static class Scheduling {}

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
}
