package io.github.virtualthread.context;

import io.github.virtualthread.context.CapturedContext.Scope;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.MDC;

/** Carries an MDC to a virtual thread and tells what arrived. Public for {@link OtherLoggingSystemsTests}. */
public final class MdcProbe implements Callable<String> {

    @Override
    public String call() {
        MDC.put("user", "alice");
        MDC.put("request", "7");
        CapturedContext all = ContextPropagation.none().withMdc().capture();
        CapturedContext user =
                ContextPropagation.none().withMdc(List.of("user")).capture();
        MDC.put("user", "bob");
        CompletableFuture<String> seen = new CompletableFuture<>();
        Thread.ofVirtual()
                .start(() -> seen.complete("%s all=%s user=%s then=%s"
                        .formatted(MDC.getMDCAdapter().getClass().getSimpleName(), within(all), within(user), mdc())));
        return seen.orTimeout(2, TimeUnit.MINUTES).join();
    }

    private static String within(CapturedContext captured) {
        Scope scope = ContextPropagation.open(captured);
        try {
            return mdc();
        } finally {
            ContextPropagation.close(scope);
        }
    }

    private static String mdc() {
        Map<String, String> entries = MDC.getCopyOfContextMap();
        return entries == null ? "{}" : new TreeMap<>(entries).toString();
    }
}
