package io.github.virtualthread.web;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

/**
 * Answers Spring MVC requests whose call was rejected, or has timed out. Has the lowest precedence, because the application's
 * handlers come first.
 */
public final class WebMvcRejections implements HandlerExceptionResolver {

    private final List<RejectionAnswer> answers;
    private final @Nullable HandlerExceptionResolver problemDetails;

    /**
     * Creates a resolver of rejections.
     *
     * @param answers status and header for each kind of failure
     * @param problemDetails turns an error response into a problem detail; null if the application has none
     */
    public WebMvcRejections(List<RejectionAnswer> answers, @Nullable HandlerExceptionResolver problemDetails) {
        this.answers = answers;
        this.problemDetails = problemDetails;
    }

    @Override
    public @Nullable ModelAndView resolveException(
            HttpServletRequest request, HttpServletResponse response, @Nullable Object handler, Exception failure) {
        RejectionAnswer answer = RejectionAnswer.to(failure, answers);
        if (answer == null || response.isCommitted()) {
            return null;
        }
        ModelAndView written = problemDetails == null
                ? null
                : problemDetails.resolveException(request, response, handler, answer.problem(failure));
        if (written != null) {
            return written;
        }
        // not by sendError, because the container would render its error page
        response.setStatus(answer.status());
        answer.setRetryAfter(response::setHeader);
        return new ModelAndView();
    }
}
