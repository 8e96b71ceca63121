package io.github.virtualthread.docs;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.doReturn;

import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.docs.Shop.Price;
import io.github.virtualthread.docs.Shop.Prices;
import java.math.BigDecimal;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.bean.override.mockito.MockitoSpyBean;
import org.springframework.test.util.AopTestUtils;

@Timeout(300)
@SpringBootTest(properties = "virtual-thread.limits.db.permits=20")
@Order(Integer.MAX_VALUE) // it mocks
class SpyExampleTests {

    // example: Spy
    @MockitoSpyBean
    ProductPage page;

    @Test
    void aSpyIsStubbedBehindTheProxy() throws Exception {
        ProductPage spy = AopTestUtils.getUltimateTargetObject(page);
        doReturn(completedFuture(new Price(BigDecimal.TEN))).when(spy).price(1);

        assertThat(page.price(1).get(2, TimeUnit.MINUTES).amount()).isEqualTo(BigDecimal.TEN);
    }
    // end

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    @Import({ProductPage.class, Prices.class})
    static class Application {}
}
