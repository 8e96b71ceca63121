package io.github.virtualthread.web;

import io.github.virtualthread.Internal;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

/**
 * Answers Spring MVC requests whose call was rejected, or has timed out. Has the lowest precedence, because the application's
 * handlers come first.
 */
@Internal
public final class WebMvcRejections implements HandlerExceptionResolver {

    private final SingletonSupplier<List<RejectionAnswer>> answers;
    private final SingletonSupplier<Optional<HandlerExceptionResolver>> problemDetails;

    /**
     * Creates a resolver of rejections, which looks up nothing before the first failure of a request.
     *
     * @param answers status and header for each kind of failure
     * @param problemDetails turns an error response into a problem detail; null if the application has none
     */
    public WebMvcRejections(
            Supplier<List<RejectionAnswer>> answers,
            Supplier<? extends @Nullable HandlerExceptionResolver> problemDetails) {
        this.answers = SingletonSupplier.of(answers);
        this.problemDetails = SingletonSupplier.of(() -> Optional.ofNullable(problemDetails.get()));
    }

    @Override
    public @Nullable ModelAndView resolveException(
            HttpServletRequest request, HttpServletResponse response, @Nullable Object handler, Exception failure) {
        // Tomcat 10.1 fails a request whose stream was reset by an IOException, and would log it as an error
        boolean isExpected = RejectionAnswer.isCausedByUs(failure) || failure instanceof IOException;
        if (isExpected && WebLimitFilter.isClientGone(request)) {
            response.setStatus(
                    WebLimitFilter.CLIENT_CLOSED_REQUEST); // a forward commits the answer before the filter sees it
            return new ModelAndView();
        }
        RejectionAnswer answer = RejectionAnswer.to(failure, answers.obtain());
        if (answer == null || response.isCommitted()) {
            return null;
        }
        HandlerExceptionResolver details = problemDetails.obtain().orElse(null);
        ModelAndView written =
                details == null ? null : details.resolveException(request, response, handler, answer.problem(failure));
        if (written != null) {
            return written;
        }
        // not by sendError, because the container would render its error page
        response.setStatus(answer.status());
        answer.setRetryAfter(response::setHeader);
        return new ModelAndView();
    }
}
