package io.github.virtualthread.sample.lab.experiment;

import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadClusterAutoConfiguration;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.redisson.Redisson;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Profile;

/** One of several replicas of an application, in a JVM of its own. Its settings are in {@code three-replicas.yml}. */
class ReplicaServer {

    /** Name of its settings. */
    static final String SETTINGS = "three-replicas";

    /** The profile in which the limit is its own. */
    static final String LOCAL = "local";

    /** The profile in which all replicas share the limit. */
    static final String SHARES = "shares";

    /** The profile in which each call asks Redis for a permit. */
    static final String PERMIT = "permit";

    /** With a number of callers: each makes one call after the other from now on. */
    static final String BUSY = "busy";

    /** The callers begin no more calls. */
    static final String IDLE = "idle";

    /** Answered with how many calls have failed. */
    static final String FAILED = "failed";

    private static final Duration PAUSE = Duration.ofMillis(100);

    private final AtomicInteger failed = new AtomicInteger();
    private final Calls calls;
    private volatile CountDownLatch gate = new CountDownLatch(0); // open while the callers call
    private int started;

    private ReplicaServer(Calls calls) {
        this.calls = calls;
    }

    public static void main(String[] args) {
        Calls calls = new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .run()
                .getBean(Calls.class);
        ReplicaServer server = new ReplicaServer(calls);
        ChildAnswers.give(server::answer);
    }

    private String answer(String question) {
        String[] words = question.split(" ");
        return switch (words[0]) {
            case BUSY -> busy(Integer.parseInt(words[1]));
            case IDLE -> idle();
            case FAILED -> failed.toString();
            default -> throw new IllegalArgumentException("Nobody can answer '%s'".formatted(question));
        };
    }

    private String busy(int number) {
        gate.countDown();
        for (; started < number; started++) {
            Thread.ofVirtual().name("lab-caller-" + started).start(this::callAgainAndAgain);
        }
        return "";
    }

    private String idle() {
        gate = new CountDownLatch(1);
        return "";
    }

    private void callAgainAndAgain() {
        try {
            while (true) {
                gate.await();
                try {
                    calls.call().get();
                } catch (ExecutionException failure) {
                    failed.incrementAndGet();
                    Thread.sleep(PAUSE);
                }
            }
        } catch (InterruptedException never) {
            Thread.currentThread().interrupt();
        }
    }

    /** What the replica does all day. */
    interface Calls {
        CompletableFuture<Void> call() throws InterruptedException;
    }

    /** Without an annotation by which the sample would find it. */
    @ImportAutoConfiguration({
        DataRedisAutoConfiguration.class,
        VirtualThreadAutoConfiguration.class,
        VirtualThreadClusterAutoConfiguration.class
    })
    static class Application {

        @Bean
        CountingPartner.Client partner(@Value("${replica.partner}") int port) {
            return new CountingPartner.Client(port);
        }

        @Bean
        @Profile("!" + PERMIT)
        Calls limitedCalls(CountingPartner.Client partner) {
            return new LimitedPartnerCalls(partner);
        }

        @Bean(destroyMethod = "shutdown")
        @Profile(PERMIT)
        RedissonClient redisson(@Value("${spring.data.redis.port}") int port) {
            Config config = new Config();
            config.useSingleServer().setAddress("redis://127.0.0.1:" + port);
            return Redisson.create(config);
        }

        @Bean
        @Profile(PERMIT)
        Calls permitCalls(
                CountingPartner.Client partner,
                RedissonClient redisson,
                @Value("${replica.permits}") int permits,
                @Value("${replica.lease}") int lease) {
            RPermitExpirableSemaphore semaphore = redisson.getPermitExpirableSemaphore("partner");
            semaphore.trySetPermits(permits); // the first of the replicas does
            return new PermitPartnerCalls(partner, semaphore, lease);
        }
    }
}
