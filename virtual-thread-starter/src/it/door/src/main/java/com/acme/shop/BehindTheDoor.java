package com.acme.shop;

import io.github.virtualthread.execution.Deadline;
import io.github.virtualthread.execution.VirtualThreads;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/** Tells in a header what the thread that writes an asynchronous answer has of the door: its permit and its deadline. */
@Component
class BehindTheDoor extends OncePerRequestFilter {

    private final VirtualThreads threads;

    BehindTheDoor(VirtualThreads threads) {
        this.threads = threads;
    }

    @Override
    protected boolean shouldNotFilterAsyncDispatch() {
        return false;
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        if (request.getDispatcherType() == DispatcherType.ASYNC && request.getParameter("again") != null) {
            boolean deadline = Deadline.remaining().isPresent();
            try {
                response.setHeader("X-Async", threads.call("web", () -> "ran again, deadline " + deadline));
            } catch (Exception e) {
                throw new ServletException(e);
            }
        }
        chain.doFilter(request, response);
    }
}
