package io.github.virtualthread.sample.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.sample.SampleTest;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.http.MediaType;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.web.servlet.client.RestTestClient;

@SampleTest
class AddProductTests {

    private static final String TEAPOT = """
            {"name": "Teapot", "price": 24.50, "stock": 5}""";

    @Test
    void theEventIsHandledOnAVirtualThreadOfItsOwn(@Autowired RestTestClient client) {
        AddedProduct added = add(client);

        assertThat(added.request().virtual()).isTrue();
        assertHandledOnItsOwnVirtualThread(added);
    }

    @Test
    void aNewProductHasAPage(@Autowired RestTestClient client) {
        client.get()
                .uri("/products/{id}", add(client).id())
                .exchange()
                .expectBody()
                .jsonPath("$.price.value")
                .isEqualTo(24.50)
                .jsonPath("$.stock.value")
                .isEqualTo(5);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"name\": \" \", \"price\": 24.50, \"stock\": 5}",
                "{\"name\": \"Teapot\", \"stock\": 5}",
                "{\"name\": \"Teapot\", \"price\": 24.50}"
            })
    void anIncompleteProductIsABadRequest(String product, @Autowired RestTestClient client) {
        post(client, product).expectStatus().isBadRequest();
    }

    @Nested
    @TestPropertySource(properties = "spring.threads.virtual.enabled=false")
    class OnPlatformThreads {

        @Test
        void theEventIsHandledOnAVirtualThreadAllTheSame(@Autowired RestTestClient client) {
            AddedProduct added = add(client);

            assertThat(added.request().virtual()).isFalse();
            assertHandledOnItsOwnVirtualThread(added);
        }
    }

    private static void assertHandledOnItsOwnVirtualThread(AddedProduct added) {
        assertThat(added.event().virtual()).isTrue();
        assertThat(added.event().thread())
                .startsWith("vt-ProductAddedListener.tellShops-")
                .isNotEqualTo(added.request().thread());
        assertThat(added.event().requestId()).isEqualTo("r-1");
    }

    private static AddedProduct add(RestTestClient client) {
        return post(client, TEAPOT)
                .expectStatus()
                .isCreated()
                .expectBody(AddedProduct.class)
                .returnResult()
                .getResponseBody();
    }

    private static RestTestClient.ResponseSpec post(RestTestClient client, String product) {
        return client.post()
                .uri("/products")
                .header("X-Request-Id", "r-1")
                .contentType(MediaType.APPLICATION_JSON)
                .body(product)
                .exchange();
    }
}
