package io.github.virtualthread.jdbc;

import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.execution.CallExtensions;
import io.github.virtualthread.execution.TaskBody;
import io.github.virtualthread.execution.TaskCall;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.execution.TaskThreads;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.timer.TaskTimer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** An engine that notes what became of statements. Registered as an extension, it is closed after each test. */
public final class JdbcEngine implements AfterEachCallback, AutoCloseable, TaskListener {

    public final List<StatementOutcome> outcomes = new CopyOnWriteArrayList<>();
    public final TaskTimer timer = new TaskTimer("timer");
    public final TaskLimits limits;
    public final TaskEngine engine;

    public JdbcEngine(LimitSettings... settings) {
        limits = new TaskLimits(List.of(settings), timer, change -> {});
        engine = new TaskEngine(
                limits,
                ContextPropagation.none(),
                timer,
                new TaskThreads("vt-", getClass().getClassLoader()),
                new CallExtensions(() -> List.of(this), List::of),
                false);
    }

    CompletableFuture<@Nullable Object> submit(TaskBody body) {
        return engine.submit(engine.spec("Shop.price", null), body);
    }

    @Override
    public void statementEnded(TaskCall call, StatementOutcome outcome) {
        outcomes.add(outcome);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        close();
    }

    @Override
    public void close() {
        engine.close();
        timer.close();
    }
}
