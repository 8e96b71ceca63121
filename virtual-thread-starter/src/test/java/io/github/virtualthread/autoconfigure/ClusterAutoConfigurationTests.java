package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verifyNoInteractions;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.cluster.Answer;
import io.github.virtualthread.cluster.Claim;
import io.github.virtualthread.cluster.ClusterEngine;
import io.github.virtualthread.cluster.ClusterSettings;
import io.github.virtualthread.cluster.ClusterShares;
import io.github.virtualthread.cluster.ClusterStore;
import io.github.virtualthread.cluster.MemoryEngine;
import io.github.virtualthread.cluster.redis.RedisClusterEngine;
import io.github.virtualthread.config.EngineSettings;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimit.ClusterState;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import io.github.virtualthread.test.MemoryStore;
import jakarta.annotation.PostConstruct;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

@Timeout(300)
class ClusterAutoConfigurationTests {

    private static final String LIMIT = "virtual-thread.limits.partner.cluster-permits=20";

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    VirtualThreadAutoConfiguration.class, VirtualThreadClusterAutoConfiguration.class))
            .withPropertyValues("virtual-thread.cluster.replicas=3");

    @Test
    void callsRunWithPermitsThatAnEngineLends() {
        MemoryEngine engine = new MemoryEngine(false);
        runner.withPropertyValues(LIMIT, "virtual-thread.cluster.member=shop")
                .withBean(ClusterEngine.class, () -> engine)
                .withBean(Client.class)
                .run(context -> {
                    context.getBean(Client.class).call().join();

                    TaskLimit limit = context.getBean(TaskLimits.class).get("partner");
                    assertThat(limit.permits()).isEqualTo(20);
                    assertThat(limit.lent()).isPositive();
                    assertThat(limit.cluster())
                            .extracting(ClusterState::lending)
                            .isEqualTo(ClusterState.Lending.LENT);
                    assertThat(engine.members("partner")).singleElement().satisfies(member -> {
                        assertThat(member.member()).startsWith("shop-");
                        assertThat(member.permits()).isEqualTo(20);
                    });
                });

        assertThat(engine.members("partner")).as("after the goodbye").isEmpty();
    }

    @Test
    void aCallWhileASingletonIsCreatedDoesNotHangTheStart() {
        runner.withPropertyValues(LIMIT)
                .withUserConfiguration(CallsAtOnce.class)
                .run(context -> assertThat(context.getBean(CallsAtOnce.Caller.class).result)
                        .isEqualTo("done"));
    }

    /** Spring takes threads of one name for those that start the application, and lets them wait for each other. */
    @Test
    void norDoesItIfAThreadWithoutANameStartsTheApplication() throws Exception {
        FutureTask<Void> start = new FutureTask<>(this::aCallWhileASingletonIsCreatedDoesNotHangTheStart, null);
        Thread.ofVirtual().start(start);

        start.get(2, TimeUnit.MINUTES);
    }

    @Test
    void nothingIsMadeIfNoLimitIsShared() {
        RedisConnectionFactory untouched = mock(RedisConnectionFactory.class);
        runner.withPropertyValues("virtual-thread.limits.partner.permits=20")
                .withBean(RedisConnectionFactory.class, () -> untouched)
                .withBean(Client.class)
                .run(context -> {
                    context.getBean(Client.class).call().join();

                    assertThat(context.getBeanFactory().containsSingleton("virtualThreadClusterEngine"))
                            .isFalse();
                    assertThat(context.getBeanFactory().containsSingleton("virtualThreadClusterShares"))
                            .isFalse();
                });

        verifyNoInteractions(untouched);
    }

    @Test
    void redisIsTheEngineIfItsConnectionIsABean() {
        runner.withPropertyValues(LIMIT, "spring.application.name=shop")
                .withBean(RedisConnectionFactory.class, () -> mock(RedisConnectionFactory.class))
                .run(context ->
                        assertThat(context.getBean(ClusterEngine.class)).isInstanceOf(RedisClusterEngine.class));
    }

    @Test
    void anEngineOfTheApplicationReplacesOurs() {
        runner.withPropertyValues(LIMIT, "virtual-thread.cluster.engine=redis")
                .withBean(ClusterEngine.class, MemoryEngine::new)
                .run(context -> assertThat(context).hasSingleBean(MemoryEngine.class));
    }

    @Test
    void aStoreOfTheApplicationIsEnough() {
        runner.withPropertyValues(LIMIT, "virtual-thread.cluster.engine=redis")
                .withBean(ClusterStore.class, MemoryStore::new)
                .withBean(Client.class)
                .run(context -> {
                    context.getBean(Client.class).call().join();

                    assertThat(context.getBeanFactory().containsSingleton("virtualThreadClusterEngine"))
                            .isFalse();
                    assertThat(context.getBean(TaskLimits.class)
                                    .get("partner")
                                    .cluster()
                                    .kept())
                            .as("for two of three replicas")
                            .isEqualTo(12);
                });
    }

    /** Whatever has been auto-configured before it. */
    @Test
    void aStoreOfALaterAutoConfigurationIsUsedToo() {
        runner.withPropertyValues(LIMIT)
                .withConfiguration(AutoConfigurations.of(StoreOfALibrary.class))
                .withBean(Client.class)
                .run(context -> {
                    context.getBean(Client.class).call().join();

                    assertThat(context.getBean(MemoryStore.class)
                                    .read(List.of("partner"))
                                    .texts())
                            .isNotEmpty();
                });
    }

    @AutoConfiguration(after = VirtualThreadClusterAutoConfiguration.class)
    static class StoreOfALibrary {

        @Bean
        MemoryStore store() {
            return new MemoryStore();
        }
    }

    @Test
    void aBeanDeclaresASharedLimitToo() {
        MemoryEngine engine = new MemoryEngine(false);
        runner.withBean(LimitSettings.class, () -> LimitSettings.of("partner", 5)
                        .withClusterPermits(8))
                .withBean(ClusterEngine.class, () -> engine)
                .withBean(Client.class)
                .run(context -> {
                    context.getBean(Client.class).call().join();

                    assertThat(engine.members("partner"))
                            .extracting(Answer.Other::permits)
                            .containsExactly(8);
                });
    }

    @Test
    void limitsAreOfThisJvmAloneIfTheStarterIsDisabled() {
        runner.withPropertyValues(LIMIT, "virtual-thread.enabled=false")
                .withBean(
                        LimitSettings.class, () -> LimitSettings.of("tenant", 5).withClusterPermits(5))
                .run(context -> {
                    TaskLimits limits = context.getBean(TaskLimits.class);
                    assertThat(limits.get("partner").clusterPermits()).isNull();
                    assertThat(limits.get("partner").permits()).isEqualTo(20);
                    assertThat(limits.get("tenant").settings().isShared()).isFalse();
                    assertThat(context.getBeanFactory().containsSingleton("virtualThreadClusterShares"))
                            .isFalse();
                });
    }

    @Test
    void aChildContextUsesTheSharesOfItsParent() {
        MemoryEngine engine = new MemoryEngine(false);
        runner.withPropertyValues(LIMIT)
                .withBean(ClusterEngine.class, () -> engine)
                .run(parent -> runner.withParent(parent)
                        .withPropertyValues(LIMIT)
                        .withBean(Client.class)
                        .run(child -> {
                            child.getBean(Client.class).call().join();

                            assertThat(child.getBean(ClusterShares.class))
                                    .isSameAs(parent.getBean(ClusterShares.class));
                            assertThat(engine.members("partner")).hasSize(1);
                        }));
    }

    @Test
    void withoutSpringDataRedisTheStartIsAsBefore() {
        runner.withClassLoader(new FilteredClassLoader("org.springframework.data.redis"))
                .withPropertyValues("virtual-thread.limits.partner.permits=20")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void theSettingsAreThoseOfTheProperties() {
        runner.withPropertyValues(
                        LIMIT,
                        "virtual-thread.limits.partner.permits=12",
                        "virtual-thread.limits.partner.on-failure=reject",
                        "virtual-thread.cluster.lease=5s",
                        "virtual-thread.cluster.beat=50ms",
                        "virtual-thread.cluster.on-failure=wait",
                        "virtual-thread.cluster.member= ",
                        "virtual-thread.cluster.replicas=3")
                .withBean(ClusterEngine.class, MemoryEngine::new)
                .run(context -> {
                    assertThat(context.getBean(EngineSettings.class).cluster())
                            .isEqualTo(new ClusterSettings(
                                    null,
                                    Duration.ofSeconds(5),
                                    Duration.ofMillis(50),
                                    LimitSettings.OnFailure.WAIT,
                                    3));
                    LimitSettings partner =
                            context.getBean(TaskLimits.class).get("partner").settings();
                    assertThat(partner.permits()).isEqualTo(12);
                    assertThat(partner.onFailure()).isEqualTo(LimitSettings.OnFailure.REJECT);
                });
    }

    @Test
    void theNameOfTheClusterIsNeeded() {
        runner.withPropertyValues(LIMIT)
                .withBean(RedisConnectionFactory.class, () -> mock(RedisConnectionFactory.class))
                .run(
                        context -> assertThat(mistakes(context.getStartupFailure()))
                                .singleElement()
                                .satisfies(
                                        mistake -> assertThat(mistake.description())
                                                .startsWith(
                                                        "Limit 'partner' has cluster-permits: 20, but neither virtual-thread.cluster.name")));
    }

    @Test
    void oneConnectionHasToBePrimary() {
        runner.withPropertyValues(LIMIT, "spring.application.name=shop")
                .withBean("first", RedisConnectionFactory.class, () -> mock(RedisConnectionFactory.class))
                .withBean("second", RedisConnectionFactory.class, () -> mock(RedisConnectionFactory.class))
                .run(context -> assertThat(mistakes(context.getStartupFailure()))
                        .singleElement()
                        .satisfies(mistake -> assertThat(mistake.description())
                                .contains("several beans of type RedisConnectionFactory", "first", "second")));
    }

    @Test
    void aLeaseMustBeLongEnoughForTheBeatOfTheEngine() {
        runner.withPropertyValues(LIMIT, "virtual-thread.cluster.lease=2s")
                .withBean(ClusterEngine.class, SlowEngine::new)
                .run(context -> assertThat(mistakes(context.getStartupFailure()))
                        .extracting(Mistake::description)
                        .containsExactly(
                                "virtual-thread.cluster.lease must be at least 10 times the beat of SlowEngine,"
                                        + " which is 0.5s, was 2s"));
    }

    @ParameterizedTest
    @CsvSource({
        "cluster.replicas=3, limits.partner.permits=4, true",
        "cluster.on-failure=reject, limits.partner.permits=4, true",
        "limits.partner.on-failure=wait, limits.partner.permits=4, true",
        "limits.partner.permits=4, cluster.lease=20s, false",
        "cluster.on-failure=local-share, limits.partner.permits=4, false",
        "cluster.on-failure=wait, limits.partner.on-failure=local-share, false"
    })
    void whatCallsDoWithoutTheEngineIsADecision(String one, String another, boolean starts) {
        runner.withPropertyValues(
                        LIMIT, "virtual-thread.cluster.replicas=", "virtual-thread." + one, "virtual-thread." + another)
                .withBean(ClusterEngine.class, MemoryEngine::new)
                .run(context -> {
                    if (starts) {
                        assertThat(context).hasNotFailed();
                    } else {
                        assertThat(mistakes(context.getStartupFailure()))
                                .extracting(Mistake::description)
                                .containsExactly(
                                        "Limit 'partner' has cluster-permits: 20, but nothing says what calls do"
                                                + " while no engine lends permits");
                    }
                });
    }

    private static List<Mistake> mistakes(@Nullable Throwable failure) {
        assertThat(failure).isInstanceOf(VirtualThreadConfigurationException.class);
        return ((VirtualThreadConfigurationException) failure).mistakes();
    }

    public static class Client {

        @VirtualThread("partner")
        public CompletableFuture<String> call() {
            return CompletableFuture.completedFuture("done");
        }
    }

    /** Is slow to talk to. */
    static class SlowEngine implements ClusterEngine {

        @Override
        public List<Answer> exchange(List<Claim> claims) {
            throw new IllegalStateException("away");
        }

        @Override
        public Duration beat() {
            return Duration.ofMillis(500);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class CallsAtOnce {

        @Bean
        Client client() {
            return new Client();
        }

        @Bean
        Caller caller(Client client) {
            return new Caller(client);
        }

        /** Created by the exchange, while the main thread is in the creation of the caller. */
        @Bean
        ClusterEngine engine() {
            return new MemoryEngine(false);
        }

        static class Caller {

            private final Client client;

            @Nullable
            String result;

            Caller(Client client) {
                this.client = client;
            }

            @PostConstruct
            void call() {
                result = client.call().join();
            }
        }
    }
}
