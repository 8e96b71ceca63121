package io.github.virtualthread.docs.shutdown;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.autoconfigure.VirtualThreadAsyncAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.docs.Pages;
import io.github.virtualthread.execution.VirtualThreads;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;

/** A stop drops calls that were accepted and have no future. */
@ExtendWith(OutputCaptureExtension.class)
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class ShutdownPageTests {

    private static final int CALLS = 200;

    @Test
    void droppedCallsAreOneLineWithTheirNumberForEachMethod(CapturedOutput output) {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        VirtualThreadAutoConfiguration.class, VirtualThreadAsyncAutoConfiguration.class))
                .withPropertyValues(
                        "virtual-thread.limits.mail.permits=1",
                        "virtual-thread.async.limit=mail",
                        "virtual-thread.shutdown.await-termination-period=0s")
                .withUserConfiguration(AsyncIsOn.class)
                .withBean(Mailer.class)
                .run(context -> {
                    VirtualThreads threads = context.getBean(VirtualThreads.class);
                    CountDownLatch runs = new CountDownLatch(1);
                    threads.submit("mail", () -> {
                        runs.countDown();
                        new CountDownLatch(1).await(); // until the stop interrupts it
                        return null;
                    });
                    runs.await();
                    Mailer mailer = context.getBean(Mailer.class);
                    for (int i = 0; i < CALLS; i++) {
                        mailer.send();
                        mailer.sendLater();
                    }
                });

        List<String> lines = output.getAll()
                .lines()
                .filter(line -> line.contains("ERROR") || line.contains("WARN"))
                .toList();
        assertThat(lines)
                .singleElement()
                .asString()
                .contains("WARN")
                .endsWith(Pages.block("docs/shutdown.md", "log", "dropped"));
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class AsyncIsOn {}

    static class Mailer {

        @VirtualThread("mail")
        void send() {}

        @Async
        void sendLater() {}
    }
}
