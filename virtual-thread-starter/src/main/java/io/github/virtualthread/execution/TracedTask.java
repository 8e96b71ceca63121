package io.github.virtualthread.execution;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A task whose failure also shows where it was called. */
final class TracedTask extends Task {

    private final CallerTrace caller;

    /** To be made on the thread of the caller. */
    TracedTask(Recipe recipe, TaskBody body, @Nullable Consumer<Throwable> onFailure) {
        super(recipe, body, onFailure);
        this.caller = new CallerTrace(recipe.name());
    }

    @Override
    <T extends Throwable> T withCallerTrace(T failure) {
        try {
            caller.addTo(failure);
        } catch (OutOfMemoryError noRoom) {
            return failure; // as it is: better than another one
        }
        return failure;
    }
}
