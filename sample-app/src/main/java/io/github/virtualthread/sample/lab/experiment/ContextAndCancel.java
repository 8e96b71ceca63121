package io.github.virtualthread.sample.lab.experiment;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.PatternLayout;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.sample.lab.About;
import io.github.virtualthread.sample.lab.Act;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Facts;
import io.github.virtualthread.sample.lab.Experiment;
import io.github.virtualthread.sample.lab.Parameter;
import io.github.virtualthread.sample.lab.Run;
import io.github.virtualthread.sample.lab.Source;
import io.github.virtualthread.sample.lab.experiment.ContextTasks.Work;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.slf4j.MDC;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.MapPropertySource;
import org.springframework.stereotype.Component;

/** What a task sees of its caller, whether a cancel stops it, and what its failure shows. */
@Component
@Order(70)
class ContextAndCancel implements Experiment {

    static final String BOTH = "With both annotations";
    static final String ONLY_VIRTUAL = "Only with @VirtualThread";
    static final String NEITHER = "With neither";

    private static final String ASYNC = "@Async on virtual threads";
    private static final String VIRTUAL = "@VirtualThread";
    private static final String REQUEST_ID = "requestId";
    private static final int SHOWN_FRAMES = 12;

    private final ContextTasks tasks;

    ContextAndCancel(ContextTasks tasks) {
        this.tasks = tasks;
    }

    @Override
    public About about() {
        return new About(
                "context-and-cancel",
                Act.LIMIT_THE_RESOURCE,
                "Context and cancel",
                "Is the request's id in the log of a task, does cancel(true) stop the task, and does its failure show the caller?",
                List.of(BOTH, ONLY_VIRTUAL, NEITHER),
                List.of(new Parameter("millis", "The work takes", "ms", 100, 10_000, 2_000, 500)),
                "That code which ignores interrupts can be stopped. Nothing can stop it.",
                Source.of(ContextTasks.class),
                "",
                "",
                3,
                2,
                "");
    }

    @Override
    public Answer run(Run run) throws Exception {
        Duration time = Duration.ofMillis(run.get("millis"));
        run.progress(0, "The log");
        String asyncLog = log(ContextTasks::logAsync);
        String virtualLog = log(ContextTasks::logVirtual);
        run.progress(0.3, "cancel(true)");
        Cancelled async = cancel(time, tasks::workAsync);
        Cancelled virtual = cancel(time, tasks::workVirtual);
        run.progress(0.8, "The stack of a failure");
        String asyncStack = stack(tasks.failAsync());
        String virtualStack = stack(tasks.failVirtual());
        String tracedStack = tracedStack();
        Facts facts = new Facts(
                List.of("", ASYNC, VIRTUAL),
                List.of(
                        List.of("The log", asyncLog, virtualLog),
                        List.of("cancel(true) after the work has begun", async.text(), virtual.text()),
                        List.of("The stack of a failure", asyncStack, virtualStack),
                        List.of(
                                "The same with virtual-thread.caller-trace",
                                "@Async has no such setting",
                                tracedStack)));
        boolean ofAsync = hasId(asyncLog) && async.stopped();
        boolean ofVirtual = hasId(virtualLog) && virtual.stopped();
        String sentence = sentence(ASYNC, asyncLog, async, caller(asyncStack, ""))
                + " "
                + sentence(VIRTUAL, virtualLog, virtual, caller(virtualStack, tracedStack));
        return new Answer(sentence, List.of(), List.of(), List.of(), List.of())
                .withFacts(facts)
                .withRight(ofAsync ? BOTH : ofVirtual ? ONLY_VIRTUAL : NEITHER);
    }

    private String log(Function<ContextTasks, CompletableFuture<Void>> call) throws Exception {
        Logger logger = (Logger) ContextTasks.log;
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        logger.addAppender(lines);
        String before = MDC.get(REQUEST_ID);
        MDC.put(REQUEST_ID, "r-4711");
        try {
            call.apply(tasks).get();
        } finally {
            logger.detachAppender(lines);
            if (before == null) {
                MDC.remove(REQUEST_ID);
            } else {
                MDC.put(REQUEST_ID, before);
            }
        }
        PatternLayout layout = new PatternLayout();
        layout.setContext(logger.getLoggerContext());
        layout.setPattern("%level [%X{requestId:-}] [%thread] %msg");
        layout.start();
        return lines.list.stream().map(layout::doLayout).collect(Collectors.joining("\n"));
    }

    private static Cancelled cancel(Duration time, BiFunction<Duration, Work, Future<Void>> call) throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch cancelled = new CountDownLatch(1);
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        Future<Void> future = call.apply(time, longest -> {
            begun.countDown();
            try {
                cancelled.await(); // so that all of the work is still to be done
                Thread.sleep(longest);
                interrupted.complete(false);
            } catch (InterruptedException stopped) {
                interrupted.complete(true);
            }
        });
        begun.await();
        long begin = System.nanoTime();
        future.cancel(true);
        cancelled.countDown();
        boolean stopped = interrupted.get(time.toMillis() + 30_000, TimeUnit.MILLISECONDS);
        return new Cancelled(stopped, (System.nanoTime() - begin) / 1e6);
    }

    private static String stack(Future<Void> future) throws InterruptedException {
        try {
            future.get();
            return "it did not fail";
        } catch (ExecutionException failure) {
            StringWriter stack = new StringWriter();
            failure.getCause().printStackTrace(new PrintWriter(stack));
            return stack.toString()
                    .lines()
                    .filter(line -> !line.contains("at ") || isOurs(line))
                    .limit(SHOWN_FRAMES)
                    .collect(Collectors.joining("\n"));
        }
    }

    /** The frames of the application; those of the frameworks are left out. */
    private static boolean isOurs(String line) {
        return line.contains(".sample.") && !line.contains("$$SpringCGLIB$$");
    }

    /** In a context of its own, since it is switched on for a whole application. */
    private static String tracedStack() throws InterruptedException {
        try (var context = new AnnotationConfigApplicationContext()) {
            context.getEnvironment()
                    .getPropertySources()
                    .addFirst(new MapPropertySource("traced", Map.of("virtual-thread.caller-trace", true)));
            context.register(Traced.class);
            context.refresh();
            return stack(context.getBean(ContextTasks.class).failVirtual());
        }
    }

    private static String sentence(String name, String log, Cancelled cancelled, String caller) {
        return "With %s: request id %s the log, cancel(true) %s the work, failure %s."
                .formatted(
                        name,
                        hasId(log) ? "in" : "missing from",
                        cancelled.stopped() ? "stops" : "does not stop",
                        caller);
    }

    private static boolean hasId(String log) {
        return log.contains("[r-4711]");
    }

    private static String caller(String stack, String traced) {
        if (stack.contains(".ContextAndCancel.")) {
            return "shows the caller";
        }
        return traced.contains(".ContextAndCancel.")
                ? "shows the caller by virtual-thread.caller-trace"
                : "does not show the caller";
    }

    /** What became of work that was cancelled. */
    private record Cancelled(boolean stopped, double millis) {

        String text() {
            return stopped
                    ? "the work stopped after %s ms".formatted(Answer.number(millis))
                    : "the work ran on for %,.0f ms, to its end".formatted(millis);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    @Import(ContextTasks.class)
    static class Traced {}
}
