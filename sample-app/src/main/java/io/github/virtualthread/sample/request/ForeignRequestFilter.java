package io.github.virtualthread.sample.request;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Set;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Refuses what pages of other origins ask for, because nothing here asks for a login: what they send, and what they send to a name of
 * theirs that leads here. Programs that are not browsers send no {@code Sec-Fetch-Site}.
 */
@Component
@Order(Ordered.HIGHEST_PRECEDENCE)
class ForeignRequestFilter extends OncePerRequestFilter {

    private static final Set<String> LOCAL = Set.of("localhost", "127.0.0.1", "[::1]");
    private static final String SITE = "Sec-Fetch-Site";

    private final Set<String> hosts;

    ForeignRequestFilter(@Value("${sample.hosts}") Set<String> hosts) {
        this.hosts = hosts;
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        String host = request.getServerName();
        if (!LOCAL.contains(host) && !hosts.contains(host)) {
            String known = "localhost, 127.0.0.1, [::1] or one of sample.hosts %s".formatted(hosts);
            refuse(response, HttpStatus.MISDIRECTED_REQUEST, "The host must be %s, was '%s'".formatted(known, host));
        } else if (isForeign(request)) {
            String site = request.getHeader(SITE);
            refuse(response, HttpStatus.FORBIDDEN, "%s must be same-origin, was '%s'".formatted(SITE, site));
        } else {
            chain.doFilter(request, response);
        }
    }

    private static boolean isForeign(HttpServletRequest request) {
        String site = request.getHeader(SITE);
        return site != null && !site.equals("same-origin") && !isOpenedByUser(request, site);
    }

    /** A user may type any address, and follow a link to the page. */
    private static boolean isOpenedByUser(HttpServletRequest request, String site) {
        return request.getMethod().equals("GET")
                && (site.equals("none") || request.getRequestURI().equals("/"));
    }

    private static void refuse(HttpServletResponse response, HttpStatus status, String reason) throws IOException {
        response.setStatus(status.value());
        response.setContentType("text/plain;charset=UTF-8");
        response.getWriter().println(reason);
    }
}
