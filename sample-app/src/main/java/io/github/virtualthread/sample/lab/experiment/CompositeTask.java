package io.github.virtualthread.sample.lab.experiment;

import io.github.virtualthread.sample.catalog.ProductRepository;
import io.github.virtualthread.sample.lab.About;
import io.github.virtualthread.sample.lab.Act;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Column;
import io.github.virtualthread.sample.lab.Answer.Gantt;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Contender;
import io.github.virtualthread.sample.lab.Experiment;
import io.github.virtualthread.sample.lab.Measurement;
import io.github.virtualthread.sample.lab.Parameter;
import io.github.virtualthread.sample.lab.Ranges;
import io.github.virtualthread.sample.lab.Run;
import io.github.virtualthread.sample.lab.Source;
import io.github.virtualthread.sample.partner.PartnerClient;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;

/** The product page: what its user waits for, and what the server goes on with when a part of it fails. */
@Component
@Order(60)
class CompositeTask implements Experiment {

    static final String SEQUENTIAL = "one after the other";
    static final String ASYNC = "@Async on virtual threads";
    static final String VIRTUAL = "@VirtualThread";
    static final String ALL = "VirtualThreads.all";
    static final String MAIN_FIRST = "@VirtualThread, answered after the price";

    static final String ALL_PARTS = "As long as all parts together";
    static final String LONGEST_PART = "As long as the longest part";
    static final String STOPPED = "When a part fails the others are stopped, always";

    private static final Column PAGE = new Column("page", "until the page is complete", "ms");
    private static final Column WORK = new Column("work", "until all work is done", "ms");
    private static final Column FAILED = new Column("failed", "until the user learns of a failure", "ms");
    private static final Column SERVER = new Column("server", "until the server stops working on it", "ms");
    private static final Column FAN_OUT = new Column("fanOut", "fan-out", "ms");

    private static final long PRODUCT = 1;
    private static final int FAILS_AFTER = 30;

    private final PageParts parts;
    private final ProductRepository products;
    private final PartnerClient partner;

    CompositeTask(PageParts parts, ProductRepository products, PartnerClient partner) {
        this.parts = parts;
        this.products = products;
        this.partner = partner;
    }

    @Override
    public About about() {
        return new About(
                "composite-task",
                Act.LIMIT_THE_RESOURCE,
                "A task of several parts",
                "A page needs a price, a stock and reviews. How long does its user wait, and what happens if a part fails?",
                List.of(ALL_PARTS, LONGEST_PART, STOPPED),
                List.of(
                        new Parameter("fan", "Parts of the fan-out", "", 1, 10_000, 10_000, 1_000),
                        new Parameter("millis", "Each of these takes", "ms", 1, 5_000, 100, 50),
                        Parameter.ROUNDS),
                "What a limit does to a fan-out: these parts have none. For almost every partner ten thousand concurrent calls"
                        + " are too many.",
                Source.of(PageParts.class),
                "",
                "",
                9,
                4,
                "");
    }

    @Override
    public Answer run(Run run) throws Exception {
        Map<String, Gantt> pages = new LinkedHashMap<>();
        Map<String, Gantt> failures = new LinkedHashMap<>();
        List<Contender> contenders = new ArrayList<>();
        for (Way way : ways()) {
            contenders.add(new Contender(way.name(), () -> page(way, new LinkedHashMap<>()), () -> {
                Measurement measured = page(way, pages);
                if (way.name().equals(MAIN_FIRST)) {
                    return measured;
                }
                measured = failure(way, measured, failures);
                return fanOut(way, run, measured);
            }));
        }
        List<Row> rows = run.compare(contenders);
        List<Gantt> gantts = new ArrayList<>(pages.values());
        gantts.addAll(failures.values());
        Ranges ranges = new Ranges(run.get(Parameter.ROUNDS.name()));
        return new Answer(
                        sentence(rows),
                        List.of(PAGE, WORK, FAILED, SERVER, FAN_OUT),
                        rows,
                        List.of(),
                        List.of(
                                "The user waits for the sum of the parts, for the longest part, or for the main part: the rest is done after the answer,"
                                        + " and its failure reaches nobody who waits.",
                                "To measure failures, the reviews fail after %d ms. The fan-out is not measured one after the other."
                                        .formatted(FAILS_AFTER)))
                .withGantts(gantts)
                .withRight(right(rows, ranges), ranges.open());
    }

    private List<Way> ways() {
        return List.of(
                new Way(SEQUENTIAL, false, false, works -> {
                    for (Callable<Object> work : works) {
                        work.call();
                    }
                }),
                new Way(ASYNC, true, true, works -> join(works, parts::async)),
                new Way(VIRTUAL, true, true, works -> join(works, parts::virtual)),
                new Way(ALL, true, false, parts::all),
                new Way(MAIN_FIRST, true, true, this::mainFirst));
    }

    /** The user waits for the main part only: the price, which is the second. Its side parts are done later. */
    private void mainFirst(List<Callable<Object>> works) throws Exception {
        List<CompletableFuture<Object>> all = new ArrayList<>();
        for (Callable<Object> work : works) {
            all.add(parts.virtual(work));
        }
        all.get(1).get();
    }

    /** The reviews first: so that a failure of them is heard of at once. */
    private static void join(List<Callable<Object>> works, Submit submit) throws Exception {
        List<CompletableFuture<Object>> futures = new ArrayList<>();
        for (Callable<Object> work : works) {
            futures.add(submit.submit(work));
        }
        for (CompletableFuture<Object> future : futures) {
            try {
                future.get();
            } catch (ExecutionException failure) {
                throw failure.getCause() instanceof Exception cause ? cause : failure;
            }
        }
    }

    private Measurement page(Way way, Map<String, Gantt> gantts) throws Exception {
        PartsClock clock = new PartsClock();
        CompletableFuture<Object> ended = new CompletableFuture<>();
        List<Callable<Object>> works = List.of(
                clock.measured("reviews", () -> partner.reviews(PRODUCT)),
                clock.measured("price", () -> products.price(PRODUCT)),
                clock.measured("stock", () -> products.stock(PRODUCT)));
        way.run().all(watched(works, clock, ended));
        double answered = clock.millis();
        ended.get();
        Measurement measured =
                Measurement.of(PAGE.key(), answered).and(WORK.key(), Math.max(answered, clock.lastEnd()));
        gantts.put(way.name(), clock.gantt(way.name() + ": the page"));
        return measured;
    }

    private Measurement failure(Way way, Measurement measured, Map<String, Gantt> gantts) throws Exception {
        PartsClock clock = new PartsClock();
        CompletableFuture<Object> ended = new CompletableFuture<>();
        List<Callable<Object>> works = List.of(
                clock.measured("reviews", CompositeTask::fail),
                clock.measured("price", () -> products.price(PRODUCT)),
                clock.measured("stock", () -> products.stock(PRODUCT)));
        double heard = 0;
        try {
            way.run().all(watched(works, clock, ended));
        } catch (IllegalStateException expected) {
            heard = clock.millis();
        }
        if (way.leavesOthers()) {
            ended.get();
        }
        gantts.put(way.name(), clock.gantt(way.name() + ": the reviews fail"));
        return measured.and(FAILED.key(), heard).and(SERVER.key(), Math.max(heard, clock.lastEnd()));
    }

    /** Completes the future with the end of the last. */
    private static List<Callable<Object>> watched(
            List<Callable<Object>> works, PartsClock clock, CompletableFuture<Object> ended) {
        List<Callable<Object>> watched = new ArrayList<>();
        works.forEach(work -> watched.add(() -> {
            try {
                return work.call();
            } finally {
                if (clock.count() == works.size()) {
                    ended.complete(true);
                }
            }
        }));
        return watched;
    }

    private static Object fail() throws InterruptedException {
        Thread.sleep(FAILS_AFTER);
        throw new IllegalStateException("The partner is not there");
    }

    private Measurement fanOut(Way way, Run run, Measurement measured) throws Exception {
        if (!way.together()) {
            return measured;
        }
        int millis = run.get("millis");
        Callable<Object> work = () -> {
            Thread.sleep(millis);
            return true;
        };
        long begin = System.nanoTime();
        way.run().all(Collections.nCopies(run.get("fan"), work));
        return measured.and(FAN_OUT.key(), (System.nanoTime() - begin) / 1e6);
    }

    private static String sentence(List<Row> rows) {
        Row sequential = Row.named(rows, SEQUENTIAL);
        Row virtual = Row.named(rows, VIRTUAL);
        Row all = Row.named(rows, ALL);
        return ("The page took %,.0f ms with its parts one after the other, %,.0f ms with them on virtual threads, and %,.0f ms"
                        + " if its user waits for the price only. When a part failed, the server worked on for %,.0f ms with @VirtualThread and %,.0f ms with VirtualThreads.all.")
                .formatted(
                        sequential.median(PAGE.key()),
                        virtual.median(PAGE.key()),
                        Row.named(rows, MAIN_FIRST).median(PAGE.key()),
                        virtual.median(SERVER.key()) - virtual.median(FAILED.key()),
                        all.median(SERVER.key()) - all.median(FAILED.key()));
    }

    static String right(List<Row> rows, Ranges ranges) {
        Row virtual = Row.named(rows, VIRTUAL);
        boolean stopped = rows.stream()
                .filter(row -> row.figures().containsKey(FAILED.key()))
                .allMatch(row -> row.median(SERVER.key()) <= row.median(FAILED.key()));
        if (stopped) {
            return STOPPED;
        }
        Row sequential = Row.named(rows, SEQUENTIAL);
        if (ranges.isMore(sequential, virtual, PAGE)) {
            return LONGEST_PART;
        }
        return ranges.isAlike(sequential, virtual, PAGE) ? ALL_PARTS : "";
    }

    /**
     * One way to get all parts.
     *
     * @param together whether it begins all of them at once
     * @param leavesOthers whether it returns, when one has failed, before the others have ended
     */
    private record Way(String name, boolean together, boolean leavesOthers, RunAll run) {}

    @FunctionalInterface
    private interface RunAll {
        void all(List<Callable<Object>> works) throws Exception;
    }

    @FunctionalInterface
    private interface Submit {
        CompletableFuture<Object> submit(Callable<Object> work) throws Exception;
    }
}
