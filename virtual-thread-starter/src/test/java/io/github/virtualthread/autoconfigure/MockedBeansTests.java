package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.atLeastOnce;
import static org.mockito.Mockito.mockingDetails;
import static org.mockito.Mockito.verify;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.TaskLimits;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

/** A mock of a bean replaces it for the engine too. */
@SpringJUnitConfig
@ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
@Import(MockedBeansTests.Mailer.class)
@Timeout(300)
@Order(Integer.MAX_VALUE) // it mocks
class MockedBeansTests {

    @MockitoBean
    private TaskLimits limits;

    @MockitoBean
    private VirtualThreads threads;

    @Autowired
    private Mailer mailer;

    @Autowired
    private ApplicationContext context;

    @Test
    void theEngineHasTheMockedLimits() {
        verify(limits, atLeastOnce()).all();

        assertThat(mailer.send().join()).startsWith("vt-Mailer.send-");
    }

    @Test
    void theMockOfCallsByHandIsInjected() {
        assertThat(mockingDetails(threads).isMock()).isTrue();
        assertThat(context.getBean(VirtualThreads.class)).isSameAs(threads);
    }

    static class Mailer {

        @VirtualThread
        public CompletableFuture<String> send() {
            return CompletableFuture.completedFuture(Thread.currentThread().getName());
        }
    }
}
