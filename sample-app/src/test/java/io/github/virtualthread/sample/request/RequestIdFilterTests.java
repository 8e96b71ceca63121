package io.github.virtualthread.sample.request;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.servlet.FilterChain;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

class RequestIdFilterTests {

    private final RequestIdFilter filter = new RequestIdFilter();
    private final MockHttpServletRequest request = new MockHttpServletRequest();
    private final MockHttpServletResponse response = new MockHttpServletResponse();

    private String seen;

    private final FilterChain chain = (req, res) -> seen = MDC.get(RanOn.REQUEST_ID);

    @Test
    void theCallersIdIsInTheMdcAndInTheAnswer() throws Exception {
        request.addHeader(RequestIdFilter.HEADER, "r-1");

        filter.doFilter(request, response, chain);

        assertThat(seen).isEqualTo("r-1");
        assertThat(response.getHeader(RequestIdFilter.HEADER)).isEqualTo("r-1");
    }

    @Test
    void aRequestWithoutAnIdGetsOne() throws Exception {
        filter.doFilter(request, response, chain);

        assertThat(seen).isNotBlank().isEqualTo(response.getHeader(RequestIdFilter.HEADER));
    }

    @Test
    void theNextRequestOnTheThreadFindsNoId() throws Exception {
        filter.doFilter(request, response, chain);

        assertThat(MDC.get(RanOn.REQUEST_ID)).isNull();
    }
}
