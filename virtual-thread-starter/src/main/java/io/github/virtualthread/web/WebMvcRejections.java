package io.github.virtualthread.web;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

/** Answers requests of Spring MVC whose call was rejected. Has the lowest precedence, as what the application has comes first. */
public final class WebMvcRejections implements HandlerExceptionResolver {

    private final RejectionAnswer answer;
    private final @Nullable HandlerExceptionResolver problemDetails;

    /**
     * Answers rejections.
     *
     * @param answer status and header
     * @param problemDetails makes a problem detail of an error response; null if the application has none
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

    /** Not by {@code sendError}, for which the container would render its error page. */
    private ModelAndView withoutBody(HttpServletResponse response) {
        response.setStatus(answer.status());
        String seconds = answer.retryAfterSeconds();
        if (seconds != null) {
            response.setHeader(HttpHeaders.RETRY_AFTER, seconds);
        }
        return new ModelAndView();
    }
}
