package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.aop.VirtualThreadBeanPostProcessor;
import io.github.virtualthread.config.EnableVirtual;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimits;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.MDC;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.task.TaskDecorator;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.AsyncConfigurer;

@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class AutoConfigurationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class))
            .withPropertyValues("virtual-thread.limits.db.permits=2")
            .withBean(Prices.class);

    @AfterEach
    void clearMdc() {
        MDC.clear();
    }

    @Test
    void theJarAloneRunsAnnotatedMethodsOnNamedVirtualThreads() {
        runner.run(context -> {
            Thread thread = context.getBean(Prices.class).thread().get(2, TimeUnit.MINUTES);

            assertThat(thread.isVirtual()).isTrue();
            assertThat(thread.getName()).isEqualTo("vt-Prices.thread-1");
        });
    }

    @ParameterizedTest
    @CsvSource({"mdc-keys=, r-1", "mdc=false, ", "mdc-keys=tenant, ", "mdc-keys=requestId, r-1"})
    void theMdcOfTheCallerIsThereUnlessAPropertySaysOtherwise(String property, @Nullable String seen) {
        runner.withPropertyValues("virtual-thread.propagation." + property).run(context -> {
            MDC.put("requestId", "r-1");

            assertThat(context.getBean(Prices.class).requestId().get(2, TimeUnit.MINUTES))
                    .isEqualTo(seen);
        });
    }

    @Test
    void theThreadNamePrefixIsAProperty() {
        runner.withPropertyValues("virtual-thread.thread-name-prefix=shop-")
                .run(context -> assertThat(context.getBean(Prices.class)
                                .thread()
                                .get(2, TimeUnit.MINUTES)
                                .getName())
                        .isEqualTo("shop-Prices.thread-1"));
    }

    @Test
    void disabledItLeavesMethodsAsTheyAreButKeepsTheRest() {
        runner.withPropertyValues("virtual-thread.enabled=false").run(context -> {
            assertThat(context.getBean(Prices.class).thread().get(2, TimeUnit.MINUTES))
                    .isSameAs(Thread.currentThread());
            assertThat(AopUtils.isAopProxy(context.getBean(Prices.class))).isFalse();
            assertThat(context.getBean(TaskLimits.class).names()).containsExactly("db");
        });
    }

    @Test
    void disabledItSaysSo(CapturedOutput output) {
        runner.withPropertyValues("virtual-thread.enabled=false").run(context -> assertThat(output)
                .contains("2 annotated methods, 0 of them without a limit, not intercepted because"
                        + " virtual-thread.enabled is false; limits db"));
    }

    @Test
    void disabledItStillFindsMistakes() {
        runner.withPropertyValues("virtual-thread.enabled=false", "virtual-thread.limits.db.permits=0")
                .run(context -> assertThat(context).hasFailed());
    }

    @Test
    void nothingElseOfTheApplicationChanges() {
        ApplicationContextRunner without = new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        TaskExecutionAutoConfiguration.class, TaskSchedulingAutoConfiguration.class));
        ApplicationContextRunner with =
                without.withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class));

        without.run(before -> with.run(after -> {
            assertThat(after.getBeanDefinitionNames()).contains(before.getBeanDefinitionNames());
            assertThat(executorsByType(after)).isEqualTo(executorsByType(before));
            for (Class<?> type : List.of(AsyncConfigurer.class, TaskDecorator.class, TaskScheduler.class)) {
                assertThat(after.getBeanNamesForType(type)).isEqualTo(before.getBeanNamesForType(type));
            }
            assertThat(added(before, after))
                    .allMatch(name -> name.toLowerCase(Locale.ROOT).contains("virtual"));
        }));
    }

    /** Those that somebody gets who does not ask for a name. */
    private static List<String> executorsByType(AssertableApplicationContext context) {
        return Stream.of(context.getBeanNamesForType(Executor.class))
                .filter(name -> context.getSourceApplicationContext(GenericApplicationContext.class)
                                        .getBeanDefinition(name)
                                instanceof AbstractBeanDefinition definition
                        && definition.isDefaultCandidate())
                .toList();
    }

    private static Set<String> added(ApplicationContext before, ApplicationContext after) {
        Set<String> added = new TreeSet<>(List.of(after.getBeanDefinitionNames()));
        added.removeAll(List.of(before.getBeanDefinitionNames()));
        return added;
    }

    @Test
    void theApplicationsOwnEnableVirtualWinsAndKeepsTheProperties() {
        runner.withUserConfiguration(OwnEnableVirtual.class).run(context -> {
            assertThat(context).hasSingleBean(VirtualThreadBeanPostProcessor.class);
            assertThat(context.getBean(VirtualThreadBeanPostProcessor.class).getOrder())
                    .isEqualTo(7);
            assertThat(context.getBean(TaskLimits.class).get("db").permits()).isEqualTo(2);
            assertThat(context.getBean(Prices.class)
                            .thread()
                            .get(2, TimeUnit.MINUTES)
                            .isVirtual())
                    .isTrue();
        });
    }

    @Test
    void anEnableVirtualThatComesLaterAndSaysTheSameIsNoMistake() {
        runner.withConfiguration(AutoConfigurations.of(LaterEnableVirtual.class))
                .run(context -> assertThat(context).hasNotFailed().hasSingleBean(VirtualThreadBeanPostProcessor.class));
    }

    @Test
    void aBeanOfTheApplicationMayBeNamedVirtualThreads() {
        runner.withUserConfiguration(OwnVirtualThreads.class).run(context -> {
            assertThat(context).hasNotFailed().hasSingleBean(VirtualThreads.class);
            assertThat(context.getBean("virtualThreads")).isInstanceOf(ExecutorService.class);
        });
    }

    @Test
    void beansWithInterfacesAreProxiedByClassUnlessTheApplicationSaysOtherwise() {
        runner.withBean(Stock.class, StockOfMemory::new)
                .run(context -> assertThat(AopUtils.isCglibProxy(context.getBean(Stock.class)))
                        .isTrue());
        runner.withUserConfiguration(OwnEnableVirtual.class)
                .withBean(Stock.class, StockOfMemory::new)
                .run(context -> assertThat(AopUtils.isCglibProxy(context.getBean(Stock.class)))
                        .isTrue());
        runner.withPropertyValues("spring.aop.proxy-target-class=false")
                .withBean(Stock.class, StockOfMemory::new)
                .run(context -> assertThat(AopUtils.isJdkDynamicProxy(context.getBean(Stock.class)))
                        .isTrue());
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void aChildContextSaysNothingOfTheNumbersOfItsParentsLimits(CapturedOutput output) {
        runner.withPropertyValues("virtual-thread.limits.own.permits=3", "virtual-thread.limits.own.permits-per-key=3")
                .run(parent -> new ApplicationContextRunner()
                        .withParent(parent)
                        .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class))
                        .run(child -> assertThat(child).hasNotFailed()));

        assertThat(output)
                .containsOnlyOnce("Limit 'own' has permits-per-key: 3 and permits: 3")
                .containsOnlyOnce("Limit 'own' has permits-per-key: 3, but no annotated method");
    }

    @Test
    void aChildContextInterceptsItsOwnBeansWithTheEngineOfItsParent() {
        runner.run(parent -> new ApplicationContextRunner()
                .withParent(parent)
                .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class))
                .withBean("childPrices", Prices.class)
                .run(child -> {
                    Prices prices = child.getBean("childPrices", Prices.class);

                    assertThat(prices).isInstanceOf(Advised.class);
                    assertThat(prices.thread().get(2, TimeUnit.MINUTES).isVirtual())
                            .isTrue();
                    assertThat(child.getBean(TaskEngine.class)).isSameAs(parent.getBean(TaskEngine.class));
                    assertThat(child.getBean(TaskLimits.class)).isSameAs(parent.getBean(TaskLimits.class));
                }));
    }

    @Test
    void aLimitDeclaredAsABeanIsChangedByAProperty() {
        runner.withBean("limitDb", LimitSettings.class, () -> LimitSettings.of("db", 5))
                .withBean("limitMail", LimitSettings.class, () -> LimitSettings.of("mail", 1))
                .run(context -> {
                    assertThat(context.getBean(TaskLimits.class).get("db").permits())
                            .isEqualTo(2);
                    assertThat(context.getBean(TaskLimits.class).get("mail").permits())
                            .isEqualTo(1);
                });
    }

    static class Prices {

        @VirtualThread("db")
        public CompletableFuture<Thread> thread() {
            return CompletableFuture.completedFuture(Thread.currentThread());
        }

        @VirtualThread("db")
        public CompletableFuture<String> requestId() {
            return CompletableFuture.completedFuture(MDC.get("requestId"));
        }
    }

    interface Stock {
        CompletableFuture<Integer> count();
    }

    static class StockOfMemory implements Stock {

        @Override
        @VirtualThread
        public CompletableFuture<Integer> count() {
            return CompletableFuture.completedFuture(1);
        }
    }

    @AutoConfiguration(after = VirtualThreadAutoConfiguration.class)
    @EnableVirtual
    static class LaterEnableVirtual {}

    @Configuration(proxyBeanMethods = false)
    static class OwnVirtualThreads {

        @Bean
        ExecutorService virtualThreads() {
            return Executors.newVirtualThreadPerTaskExecutor();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableVirtual(order = 7)
    static class OwnEnableVirtual {

        @Bean
        String unrelated() {
            return "unrelated";
        }
    }
}
