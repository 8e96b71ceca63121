package io.github.virtualthread.autoconfigure.async;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.limit.LimitExceededException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.scheduling.annotation.AsyncAnnotationBeanPostProcessor;

/** Where the failures and rejections of methods with {@code @Async} go. */
@Timeout(300)
class AsyncFailuresTests extends AsyncApplications {

    @Test
    void theFailureOfAVoidMethodReachesTheHandlerOfTheApplication() {
        common.withUserConfiguration(OwnConfigurer.class).run(context -> {
            context.getBean(Mailer.class).fail("order 1");

            Uncaught uncaught = context.getBean(OwnConfigurer.class).uncaught.get(2, TimeUnit.MINUTES);
            assertThat(uncaught.failure()).isInstanceOf(IllegalStateException.class);
            assertThat(uncaught.method()).isEqualTo("fail");
            assertThat(uncaught.arguments()).containsExactly("order 1");
        });
    }

    @Test
    void theFailureOfAVoidMethodReachesTheHandlerThatSpringsPostProcessorHas() {
        CompletableFuture<Uncaught> uncaught = new CompletableFuture<>();
        plain.withBean(AsyncAnnotationBeanPostProcessor.class, () -> {
                    AsyncAnnotationBeanPostProcessor byHand = new AsyncAnnotationBeanPostProcessor();
                    byHand.setExceptionHandler((failure, method, arguments) ->
                            uncaught.complete(new Uncaught(failure, method.getName(), arguments)));
                    return byHand;
                })
                .withBean(Mailer.class, this)
                .withPropertyValues("virtual-thread.async.limit=common")
                .run(context -> {
                    context.getBean(Mailer.class).fail("order 1");

                    assertThat(uncaught.get(2, TimeUnit.MINUTES).arguments()).containsExactly("order 1");
                });
    }

    @Test
    void aLaterRejectionOfAVoidMethodReachesTheHandlerOfTheApplication() {
        common.withUserConfiguration(OwnConfigurer.class)
                .withPropertyValues("virtual-thread.limits.common.max-wait=10ms")
                .run(context -> {
                    CountDownLatch gate = new CountDownLatch(1);
                    Mailer mailer = context.getBean(Mailer.class);
                    CompletableFuture<?> first = mailer.send(gate);
                    CompletableFuture<?> second = mailer.send(gate);

                    mailer.fail("order 1");

                    Uncaught uncaught =
                            context.getBean(OwnConfigurer.class).uncaught.get(2, TimeUnit.MINUTES);
                    assertThat(uncaught.failure())
                            .isInstanceOf(LimitExceededException.class)
                            .hasMessageContaining("Mailer.fail");
                    assertThat(uncaught.method()).isEqualTo("fail");
                    assertThat(uncaught.arguments()).containsExactly("order 1");
                    gate.countDown();
                    assertThat(CompletableFuture.allOf(first, second)).succeedsWithin(2, TimeUnit.MINUTES);
                });
    }

    @Test
    void aFullQueueIsThrownAtTheCallerAsByAPool() {
        common.withPropertyValues("virtual-thread.limits.common.queue-capacity=0")
                .run(context -> {
                    CountDownLatch gate = new CountDownLatch(1);
                    Mailer mailer = context.getBean(Mailer.class);
                    CompletableFuture<?> first = mailer.send(gate);
                    CompletableFuture<?> second = mailer.send(gate);

                    assertThatThrownBy(() -> mailer.fail("order 1")).isInstanceOf(LimitExceededException.class);
                    assertThatThrownBy(() -> mailer.send(gate)).isInstanceOf(LimitExceededException.class);
                    gate.countDown();
                    assertThat(CompletableFuture.allOf(first, second)).succeedsWithin(2, TimeUnit.MINUTES);
                });
    }
}
