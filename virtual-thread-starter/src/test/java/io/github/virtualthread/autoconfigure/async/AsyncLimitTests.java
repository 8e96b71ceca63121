package io.github.virtualthread.autoconfigure.async;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.autoconfigure.VirtualThreadAsyncAutoConfiguration;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.aopalliance.aop.Advice;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.MDC;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.annotation.AnnotationAsyncExecutionInterceptor;
import org.springframework.scheduling.annotation.AsyncAnnotationAdvisor;
import org.springframework.scheduling.annotation.AsyncAnnotationBeanPostProcessor;

/** Methods with {@code @Async} under the limit of {@code virtual-thread.async.limit}. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class AsyncLimitTests extends AsyncApplications {

    @Test
    void asyncMethodsRunUnderTheCommonLimitInOrderAndTheirCallerGoesOn() {
        common.run(context -> {
            Mailer mailer = context.getBean(Mailer.class);
            CountDownLatch gate = new CountDownLatch(1);
            List<Integer> order = new CopyOnWriteArrayList<>();
            MDC.put("requestId", "r-1");
            CompletableFuture<String> first = mailer.send(gate);
            CompletableFuture<String> second = mailer.send(gate);
            MDC.remove("requestId");
            List<CompletableFuture<Integer>> waiting = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                waiting.add(mailer.add(order, i));
            }

            TaskLimit limit = context.getBean(TaskLimits.class).get("common");
            assertThat(limit.inUse()).isEqualTo(2);
            assertThat(limit.waiting()).isEqualTo(100);
            limit.resize(1);
            gate.countDown();
            assertThat(first.get(2, TimeUnit.MINUTES))
                    .startsWith("vt-Mailer.send-")
                    .endsWith("r-1");
            assertThat(second).succeedsWithin(2, TimeUnit.MINUTES);
            CompletableFuture.allOf(waiting.toArray(CompletableFuture[]::new)).get(2, TimeUnit.MINUTES);
            assertThat(order).hasSize(100).isSorted();
        });
    }

    @Test
    void theLimitOfAsyncMethodsChangesNoExecutor() {
        common.run(context -> {
            assertThat(context.getBean("applicationTaskExecutor").toString()).doesNotContain("under limit");
            assertThat(context.getBean("applicationTaskExecutor", AsyncTaskExecutor.class)
                            .submitCompletable(() -> Thread.currentThread().getName())
                            .get(2, TimeUnit.MINUTES))
                    .startsWith("task-");
        });
    }

    @Test
    void anAsyncConfigurerIsAskedOnce() {
        runner.withUserConfiguration(OwnConfigurer.class, MailPool.class)
                .withPropertyValues("virtual-thread.async.executors.mailExecutor=mail")
                .run(context -> {
                    assertThat(threadOfSend(context)).startsWith("own-");
                    assertThat(threadOfSend(context)).startsWith("own-");
                    assertThat(context.getBean(OwnConfigurer.class).asked).hasValue(1);
                });
    }

    /** Spring asks a factory for its type if anybody looks for a bean by its type, and then has to create it. */
    @Test
    void whatAFactoryNeedsIsNotCreatedEarly() {
        runner.withUserConfiguration(NeedsMailerInFactory.class)
                .run(context -> assertThat(context.getBean(NeedsMailerByField.class).mailer)
                        .isNotNull());
        common.withUserConfiguration(NeedsMailerInFactory.class).run(context -> {
            assertThat(context.getBean(NeedsMailerByField.class).mailer).isNotNull();
            assertThat(threadOfSend(context)).startsWith("vt-Mailer.send-");
        });
    }

    /** The advice of others may find its executors by rules of its own. */
    @Test
    void theAdviceOfOthersStays(CapturedOutput output) {
        plain.withBean(AsyncAnnotationBeanPostProcessor.class, OwnAdvice::new)
                .withBean(Mailer.class, this)
                .withPropertyValues("virtual-thread.async.limit=common")
                .run(context -> {
                    assertThat(threadOfSend(context)).startsWith("own-");
                    assertThat(output)
                            .contains("$Mailer.send is run by ", ", which virtual-thread.async leaves as it is");
                });
    }

    @Test
    void aBeanThatAPostProcessorNeedsIsUnderTheLimit() {
        common.withUserConfiguration(NeedsMailer.class)
                .run(context -> assertThat(threadOfSend(context)).startsWith("vt-Mailer.send-"));
    }

    @Test
    void withoutAKeyThereIsNoBean() {
        runner.run(context -> {
            assertThat(context)
                    .doesNotHaveBean(AsyncExecutors.class)
                    .doesNotHaveBean(AsyncCheck.class)
                    .doesNotHaveBean("virtualThreadExecutor")
                    .doesNotHaveBean(VirtualThreadAsyncAutoConfiguration.class);
            assertThat(threadOfSend(context)).startsWith("task-");
        });
    }

    @Test
    void aConfigurerMayBeAnObject(CapturedOutput output) {
        plain.withUserConfiguration(Asynchronous.class)
                .withInitializer(
                        context -> context.getBeanFactory().registerSingleton("configurer", new OwnConfigurer()))
                .withPropertyValues("virtual-thread.async.limit=common")
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(output).contains("OwnConfigurer.getAsyncExecutor() is not used");
                });
    }

    @Test
    void blankValuesAskForNothing() {
        runner.withPropertyValues("virtual-thread.async.limit=", "virtual-thread.async.executors.mailExecutor=")
                .run(context ->
                        assertThat(context).doesNotHaveBean("mailExecutor").doesNotHaveBean(AsyncCheck.class));
    }

    @Configuration(proxyBeanMethods = false)
    static class NeedsMailerInFactory {

        @Bean
        static NeedsMailerByField needs() {
            return new NeedsMailerByField();
        }

        @Bean
        static Product product(NeedsMailerByField needs) {
            return new Product();
        }
    }

    static class NeedsMailerByField {

        @Autowired
        Mailer mailer;
    }

    private static final class Product implements FactoryBean<String> {

        @Override
        public String getObject() {
            return "product";
        }

        @Override
        public Class<?> getObjectType() {
            return String.class;
        }
    }

    @SuppressWarnings("serial")
    private static final class OwnAdvice extends AsyncAnnotationBeanPostProcessor {

        @Override
        public void setBeanFactory(BeanFactory beanFactory) {
            super.setBeanFactory(beanFactory);
            advisor = new AsyncAnnotationAdvisor() {
                @Override
                public Advice getAdvice() {
                    return new AnnotationAsyncExecutionInterceptor(new SimpleAsyncTaskExecutor("own-")) {};
                }
            };
        }
    }

    /** Its post-processor needs a bean, which so comes after that of Spring and before ours. */
    @Configuration(proxyBeanMethods = false)
    static class NeedsMailer {

        @Bean
        static BeanPostProcessor second(Mailer mailer) {
            return new BeanPostProcessor() {};
        }
    }
}
