package io.github.virtualthread.web;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

/**
 * Answers Spring MVC requests whose call was rejected. Has the lowest precedence, because the application's handlers come
 * first.
 */
public final class WebMvcRejections implements HandlerExceptionResolver {

    private final RejectionAnswer answer;
    private final @Nullable HandlerExceptionResolver problemDetails;

    /**
     * Creates a resolver of rejections.
     *
     * @param answer status and header
     * @param problemDetails turns an error response into a problem detail; null if the application has none
     */
    public WebMvcRejections(RejectionAnswer answer, @Nullable HandlerExceptionResolver problemDetails) {
        this.answer = answer;
        this.problemDetails = problemDetails;
    }

    @Override
    public @Nullable ModelAndView resolveException(
            HttpServletRequest request, HttpServletResponse response, @Nullable Object handler, Exception failure) {
        if (response.isCommitted() || !answer.covers(failure)) {
            return null;
        }
        ModelAndView written = problemDetails == null
                ? null
                : problemDetails.resolveException(request, response, handler, answer.problem(failure));
        return written == null ? withoutBody(response) : written;
    }

    /** Does not call {@code sendError}, because the container would render its error page. */
    private ModelAndView withoutBody(HttpServletResponse response) {
        response.setStatus(answer.status());
        String seconds = answer.retryAfterSeconds();
        if (seconds != null) {
            response.setHeader(HttpHeaders.RETRY_AFTER, seconds);
        }
        return new ModelAndView();
    }
}
