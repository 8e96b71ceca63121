package com.acme.shop;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/** The meetings of all requests by their parameter {@code id}. As a filter it stands before the door. */
@Component
@Order(Ordered.HIGHEST_PRECEDENCE)
class Meetings extends OncePerRequestFilter {

    private final ConcurrentMap<String, Meeting> meetings = new ConcurrentHashMap<>();

    final AtomicInteger arrived = new AtomicInteger();
    final AtomicInteger begun = new AtomicInteger();
    final AtomicInteger left = new AtomicInteger();

    /** Whose timed work was interrupted. */
    final Set<String> interrupted = ConcurrentHashMap.newKeySet();

    /** How much timed work came to its end. */
    final AtomicInteger done = new AtomicInteger();

    Meeting of(String id) {
        return meetings.computeIfAbsent(id, key -> new Meeting());
    }

    /** Called by each handler. */
    Meeting begin(String id) {
        Meeting meeting = of(id);
        begun.incrementAndGet();
        meeting.begun.countDown();
        meeting.begunOrLeft.countDown();
        return meeting;
    }

    @Override
    protected boolean shouldNotFilter(HttpServletRequest request) {
        return request.getParameter("id") == null;
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        Meeting meeting = of(request.getParameter("id"));
        arrived.incrementAndGet();
        meeting.arrived.countDown();
        try {
            chain.doFilter(request, response);
        } finally {
            left.incrementAndGet();
            meeting.left.countDown();
            meeting.begunOrLeft.countDown();
        }
    }
}
