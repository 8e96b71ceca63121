package io.github.virtualthread.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.docs.Shop.Prices;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.autoconfigure.json.JsonTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.TestPropertySource;

@Timeout(300)
@TestPropertySource(properties = "virtual-thread.limits.db.permits=20")
@Import({ProductPage.class, Prices.class})
// example: OtherSlice
@JsonTest
@ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
class OtherSliceExampleTests {
    // end

    @Test
    void theSliceRunsItOnAVirtualThread(@Autowired ProductPage page, @Autowired Prices prices) {
        page.price(1).join();

        assertThat(prices.calledOn.isVirtual()).isTrue();
    }

    @Configuration(proxyBeanMethods = false)
    static class Application {}
}
