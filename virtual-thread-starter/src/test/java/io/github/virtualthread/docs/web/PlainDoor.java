package io.github.virtualthread.docs.web;

import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.web.WebLimitFilter;
import jakarta.servlet.ServletRequest;
import java.time.Duration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The filter without Spring Boot. */
@Configuration
class PlainDoor {

    // example: PlainDoor
    @Bean
    WebLimitFilter door(VirtualThreads threads) {
        WebLimitFilter filter = new WebLimitFilter(threads, "web", Duration.ofSeconds(5));
        filter.setExclude(request -> request.getServletPath().startsWith("/events/"));
        filter.setRequestKey(ServletRequest::getRemoteAddr); // the client's address
        return filter;
    }
    // end
}
