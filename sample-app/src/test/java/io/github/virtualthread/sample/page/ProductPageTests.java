package io.github.virtualthread.sample.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.sample.SampleTest;
import io.github.virtualthread.sample.request.RanOn;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.web.servlet.client.RestTestClient;

@Tag("slow")
@SampleTest
class ProductPageTests {

    @ParameterizedTest
    @ValueSource(strings = {"/sync/products/1", "/async/products/1", "/virtual/products/1", "/products/1"})
    void everyPageHasPriceStockAndReviews(String path, @Autowired RestTestClient client) {
        ProductPage page = get(client, path);

        assertThat(page.id()).isEqualTo(1);
        assertThat(page.price().value()).isEqualByComparingTo("12.90");
        assertThat(page.stock().value()).isEqualTo(40);
        assertThat(page.reviews().value()).hasSize(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/sync/products/99", "/async/products/99", "/virtual/products/99"})
    void anUnknownProductIsNotFound(String path, @Autowired RestTestClient client) {
        client.get()
                .uri(path)
                .exchange()
                .expectStatus()
                .isEqualTo(HttpStatus.NOT_FOUND)
                .expectHeader()
                .contentType(MediaType.APPLICATION_PROBLEM_JSON)
                .expectBody()
                .jsonPath("$.detail")
                .isEqualTo("There is no product 99");
    }

    @Test
    void theSyncPageTakesTheSumOfItsParts(@Autowired RestTestClient client) {
        ProductPage page = get(client, "/sync/products/1");

        assertThat(page.tookMillis()).isGreaterThanOrEqualTo(millisOfParts(page).sum());
    }

    @Test
    void theVirtualPageTakesAtLeastItsLongestPart(@Autowired RestTestClient client) {
        ProductPage page = get(client, "/virtual/products/1");

        assertThat(page.tookMillis())
                .isGreaterThanOrEqualTo(millisOfParts(page).max().orElseThrow());
    }

    @Test
    void thePartsOfTheSyncPageRunOnTheRequestsThread(@Autowired RestTestClient client) {
        ProductPage page = get(client, "/sync/products/1");

        assertThat(page.request().virtual()).isTrue();
        assertThat(page.request().requestId()).isEqualTo("r-1");
        assertThat(threadsOfParts(page)).containsOnly(page.request());
    }

    @Test
    void thePartsOfTheAsyncPageLoseTheRequestId(@Autowired RestTestClient client) {
        ProductPage page = get(client, "/async/products/1");

        assertThat(threadsOfParts(page)).doesNotHaveDuplicates().allSatisfy(part -> {
            assertThat(part.thread()).startsWith("task-");
            assertThat(part.virtual()).isTrue();
            assertThat(part.requestId()).isNull();
        });
    }

    @Test
    void thePartsOfTheVirtualPageRunOnNamedVirtualThreadsWithTheRequestId(@Autowired RestTestClient client) {
        assertVirtualParts(get(client, "/virtual/products/1"));
    }

    @Nested
    @TestPropertySource(properties = "spring.threads.virtual.enabled=false")
    class OnPlatformThreads {

        @Test
        void thePartsOfTheAsyncPageRunOnPlatformThreads(@Autowired RestTestClient client) {
            ProductPage page = get(client, "/async/products/1");

            assertThat(threadsOfParts(page)).allSatisfy(part -> {
                assertThat(part.thread()).startsWith("task-");
                assertThat(part.virtual()).isFalse();
                assertThat(part.requestId()).isNull();
            });
        }

        @Test
        void thePartsOfTheVirtualPageAreVirtualAllTheSame(@Autowired RestTestClient client) {
            ProductPage page = get(client, "/virtual/products/1");

            assertThat(page.request().virtual()).isFalse();
            assertVirtualParts(page);
        }
    }

    private static void assertVirtualParts(ProductPage page) {
        assertThat(threadsOfParts(page)).extracting(RanOn::virtual).containsOnly(true);
        assertThat(threadsOfParts(page)).extracting(RanOn::requestId).containsOnly("r-1");
        assertThat(page.price().ranOn().thread()).startsWith("vt-VirtualParts.price-");
        assertThat(page.stock().ranOn().thread()).startsWith("vt-VirtualParts.stock-");
        assertThat(page.reviews().ranOn().thread()).startsWith("vt-VirtualParts.reviews-");
    }

    private static ProductPage get(RestTestClient client, String path) {
        return client.get()
                .uri(path)
                .header("X-Request-Id", "r-1")
                .exchange()
                .expectStatus()
                .isOk()
                .expectBody(ProductPage.class)
                .returnResult()
                .getResponseBody();
    }

    private static Stream<RanOn> threadsOfParts(ProductPage page) {
        return Stream.of(page.price(), page.stock(), page.reviews()).map(Part::ranOn);
    }

    private static LongStream millisOfParts(ProductPage page) {
        return Stream.of(page.price(), page.stock(), page.reviews()).mapToLong(Part::tookMillis);
    }
}
