package io.github.virtualthread.execution;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** A body whose value is what its caller asked for, also where that is a future: then it is not awaited. */
record ValueBody(Callable<? extends @Nullable Object> callable) implements TaskBody {

    @Override
    public @Nullable Object run() throws Exception {
        return callable.call();
    }
}
