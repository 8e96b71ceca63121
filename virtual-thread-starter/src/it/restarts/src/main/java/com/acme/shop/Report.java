package com.acme.shop;

import static java.util.concurrent.TimeUnit.MINUTES;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.github.virtualthread.limit.TaskLimits;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.springframework.boot.ApplicationArguments;
import org.springframework.boot.ApplicationRunner;
import org.springframework.context.annotation.Profile;

/** Prints after each start what it finds, and leaves a call behind that only the end of its context ends. */
@Profile("devtools")
class Report implements ApplicationRunner {

    private final Prices prices;
    private final TaskLimits limits;

    Report(Prices prices, TaskLimits limits) {
        this.prices = prices;
        this.limits = limits;
    }

    /** On a thread of its own, because Devtools knows the context before until the start is over. */
    @Override
    public void run(ApplicationArguments arguments) {
        Thread.ofPlatform().daemon().name("report").start(this::report);
    }

    private void report() {
        try {
            sayWhatIsFound();
            leaveACall();
        } catch (Exception failure) {
            say("no report: " + failure);
        }
    }

    private void sayWhatIsFound() throws Exception {
        ClassLoader own = Report.class.getClassLoader();
        List<WeakReference<ClassLoader>> loaders = ofAllStarts("test.class-loaders");
        List<Long> threads = ofAllStarts("test.threads");
        boolean clean = settles(() -> left(loaders) <= 1 // Spring Boot's shutdown hook keeps the first
                && threads().noneMatch(threads::contains));
        loaders.add(new WeakReference<>(own));
        say("%s %d: tea costs %s, %d of %d permits free, %s"
                .formatted(
                        own.getClass().getSimpleName(),
                        loaders.size(),
                        prices.ofTea().get(2, MINUTES),
                        limits.get("one").available(),
                        limits.get("one").permits(),
                        clean
                                ? "nothing left of earlier contexts"
                                : "left of earlier contexts: %d class loaders, threads %s"
                                        .formatted(
                                                left(loaders),
                                                threads()
                                                        .filter(threads::contains)
                                                        .toList())));
    }

    private void leaveACall() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        int number = ofAllStarts("test.class-loaders").size();
        CompletableFuture<String> call = prices.hold(begun, new CountDownLatch(1));
        call.whenComplete((nothing, failure) ->
                say("call %d ended with %s".formatted(number, failure.getClass().getSimpleName())));
        threads().forEach(ofAllStarts("test.threads")::add);
        say("call %d %s".formatted(number, begun.await(2, MINUTES) ? "is left running" : "did not begin"));
    }

    /** Kept by the JVM itself, as nothing of the application outlives a restart. */
    @SuppressWarnings("unchecked")
    private static <T> List<T> ofAllStarts(String key) {
        return (List<T>) System.getProperties().computeIfAbsent(key, none -> new ArrayList<>());
    }

    private static long left(List<WeakReference<ClassLoader>> loaders) {
        return loaders.stream().filter(each -> each.get() != null).count();
    }

    private static Stream<Long> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("vt-"))
                .map(Thread::threadId);
    }

    /** The collector takes its time, and so does the end of a thread. */
    private static boolean settles(BooleanSupplier condition) {
        long begin = System.nanoTime();
        while (!condition.getAsBoolean() && System.nanoTime() - begin < SECONDS.toNanos(30)) {
            System.gc();
        }
        return condition.getAsBoolean();
    }

    private static void say(String line) {
        System.out.println(line);
    }
}
