package com.acme.shop;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.anyString;
import static org.mockito.Mockito.doReturn;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.context.bean.override.mockito.MockitoSpyBean;
import org.springframework.test.util.AopTestUtils;

@ShopTest
@Import({MockTests.Page.class, MockTests.Prices.class, MockTests.Stock.class})
class MockTests {

    @MockitoBean
    Prices prices;

    @MockitoSpyBean
    Stock stock;

    @Autowired
    Page page;

    @Test
    void aMockAnswersOnTheThreadOfItsCaller() {
        Thread[] answering = new Thread[1];
        when(prices.find(anyString())).thenAnswer(call -> {
            answering[0] = Thread.currentThread();
            return completedFuture("7");
        });

        assertThat(page.show("tea")).succeedsWithin(120, SECONDS).isEqualTo("tea costs 7, 40 left");

        assertThat(AopUtils.isAopProxy(prices)).isFalse();
        assertThat(answering[0]).isSameAs(Thread.currentThread());
        verify(prices).find("tea");
    }

    @Test
    void aSpyWorksBehindTheProxyOnAVirtualThread() {
        assertThat(stock.thread()).succeedsWithin(120, SECONDS).matches(Thread::isVirtual);

        verify(AopTestUtils.<Stock>getUltimateTargetObject(stock)).thread();
    }

    @Test
    void aSpyIsStubbedAndVerifiedBehindTheProxy() {
        when(prices.find(anyString())).thenReturn(completedFuture("7"));
        Stock spy = AopTestUtils.getUltimateTargetObject(stock);
        doReturn(completedFuture(3)).when(spy).count("tea");

        assertThat(page.show("tea")).succeedsWithin(120, SECONDS).isEqualTo("tea costs 7, 3 left");

        verify(spy).count("tea");
    }

    static class Page {

        private final Prices prices;
        private final Stock stock;

        Page(Prices prices, Stock stock) {
            this.prices = prices;
            this.stock = stock;
        }

        CompletableFuture<String> show(String product) {
            return prices.find(product)
                    .thenCombine(
                            stock.count(product),
                            (price, count) -> product + " costs " + price + ", " + count + " left");
        }
    }

    static class Prices {

        @VirtualThread("one")
        public CompletableFuture<String> find(String product) {
            throw new IllegalStateException("not in a test");
        }
    }

    static class Stock {

        @VirtualThread("one")
        public CompletableFuture<Integer> count(String product) {
            return completedFuture(40);
        }

        @VirtualThread
        public CompletableFuture<Thread> thread() {
            return completedFuture(Thread.currentThread());
        }
    }
}
