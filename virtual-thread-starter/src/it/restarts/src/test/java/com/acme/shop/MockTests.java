package com.acme.shop;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.ArgumentMatchers.isNull;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.execution.TaskListener.Outcome;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

@Timeout(300)
@SpringBootTest(properties = "virtual-thread.methods[com.acme.shop.Prices.ofTea].timeout=5m")
@Import(MockTests.Menu.class)
class MockTests {

    @MockitoBean
    Prices prices;

    @MockitoBean
    TaskListener listener;

    @Autowired
    Menu menu;

    @Test
    void aMockTakesThePlaceOfABeanWhoseMethodsHaveProperties() {
        when(prices.ofTea()).thenReturn(completedFuture("3 EUR"));

        assertThat(menu.line()).succeedsWithin(120, SECONDS).isEqualTo("Tea: 3 EUR");
    }

    @Test
    void aMockedListenerHearsNothingUnlessItIsToldTo() {
        when(prices.ofTea()).thenReturn(completedFuture("3 EUR"));
        assertThat(menu.line()).succeedsWithin(120, SECONDS);
        verify(listener, never()).finished(any(), any(), any());

        when(listener.hears(any())).thenReturn(true);
        assertThat(menu.line()).succeedsWithin(120, SECONDS);
        verify(listener).finished(any(), eq(Outcome.SUCCESS), isNull());
    }

    static class Menu {

        private final Prices prices;

        Menu(Prices prices) {
            this.prices = prices;
        }

        @VirtualThread
        public CompletableFuture<String> line() {
            return prices.ofTea().thenApply(price -> "Tea: " + price);
        }
    }
}
