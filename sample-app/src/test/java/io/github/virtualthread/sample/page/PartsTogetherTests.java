package io.github.virtualthread.sample.page;

import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.BDDMockito.given;

import io.github.virtualthread.sample.SampleTest;
import io.github.virtualthread.sample.catalog.ProductRepository;
import io.github.virtualthread.sample.partner.PartnerClient;
import java.math.BigDecimal;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.web.servlet.client.RestTestClient;

@SampleTest
class PartsTogetherTests {

    private final CyclicBarrier allParts = new CyclicBarrier(3);

    @MockitoBean
    private ProductRepository products;

    @MockitoBean
    private PartnerClient partner;

    @ParameterizedTest
    @ValueSource(strings = {"/async/products/1", "/virtual/products/1"})
    void allPartsOfThePageRunAtOnce(String path, @Autowired RestTestClient client) {
        given(products.price(anyLong())).willAnswer(call -> together(BigDecimal.ONE));
        given(products.stock(anyLong())).willAnswer(call -> together(1));
        given(partner.reviews(anyLong())).willAnswer(call -> together(List.of()));

        client.get().uri(path).exchange().expectStatus().isOk();
    }

    private <T> T together(T value) throws Exception {
        allParts.await(2, TimeUnit.MINUTES);
        return value;
    }
}
