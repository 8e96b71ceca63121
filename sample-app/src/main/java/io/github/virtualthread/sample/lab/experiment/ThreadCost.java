package io.github.virtualthread.sample.lab.experiment;

import static io.github.virtualthread.sample.lab.Answer.number;

import io.github.virtualthread.sample.lab.About;
import io.github.virtualthread.sample.lab.Act;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Column;
import io.github.virtualthread.sample.lab.Answer.Figure;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Contender;
import io.github.virtualthread.sample.lab.Experiment;
import io.github.virtualthread.sample.lab.Measurement;
import io.github.virtualthread.sample.lab.Parameter;
import io.github.virtualthread.sample.lab.Ranges;
import io.github.virtualthread.sample.lab.Run;
import io.github.virtualthread.sample.lab.Sampler;
import io.github.virtualthread.sample.lab.Source;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Supplier;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;

/** Threads that are parked, and threads that take turns: what they take of memory and time. */
@Component
@Order(35)
class ThreadCost implements Experiment {

    static final String PLATFORM = "platform threads";
    static final String VIRTUAL = "virtual threads";
    static final String NAME = "lab-parked-";

    static final String NOTHING = "A virtual thread takes no memory";
    static final String LESS = "A virtual thread takes less, and it is on the heap";
    static final String THE_SAME = "They take the same";

    private static final Column SWITCH = new Column("switch", "a switch", "µs");
    private static final Column START = new Column("start", "a start", "µs");
    private static final Column HEAP = new Column("heap", "heap per parked thread", "bytes");
    private static final Column RESIDENT = new Column("resident", "memory outside of the heap per thread", "bytes");

    @Override
    public About about() {
        return new About(
                "thread-cost",
                Act.WAITING_IS_CHEAP,
                "What a thread costs",
                "Threads wait, and threads wake each other. How much memory and time does each take?",
                List.of(NOTHING, LESS, THE_SAME),
                List.of(
                        new Parameter("platform", "Platform threads", "", 1, 5_000, 1_000, 1_000),
                        new Parameter("virtual", "Virtual threads", "", 1, 100_000, 20_000, 5_000),
                        new Parameter("depth", "Frames of each stack", "", 0, 500, 20, 20),
                        new Parameter("switches", "Switches", "", 1_000, 1_000_000, 100_000, 20_000),
                        Parameter.ROUNDS),
                "What your threads take. That depends on their stacks and on what they hold. A platform thread reserves address"
                        + " space for its whole stack, and takes memory for the part that it uses.",
                Source.of(ParkedThreads.class) + "\n\n" + Source.of(PingPong.class),
                "",
                "",
                8,
                6,
                "threads begun");
    }

    @Override
    public Answer run(Run run) throws Exception {
        List<Row> rows = run.compare(List.of(
                contender(PLATFORM, "platform", () -> Thread.ofPlatform().daemon(), run),
                contender(VIRTUAL, "virtual", Thread::ofVirtual, run)));
        Ranges ranges = new Ranges(run.get(Parameter.ROUNDS.name()));
        return new Answer(sentence(rows), List.of(SWITCH, START, HEAP, RESIDENT), rows, List.of(), notes())
                .withRight(right(rows, ranges), ranges.open());
    }

    private static Contender contender(String name, String number, Supplier<Thread.Builder> builder, Run run) {
        // the warm-up has as many: what the JVM keeps for the next threads is there before it is measured
        Contender.Trial trial = () -> measure(name, run.get(number), run.get("switches"), builder, run);
        return new Contender(name, trial, trial);
    }

    private static Measurement measure(String name, int number, int switches, Supplier<Thread.Builder> builder, Run run)
            throws Exception {
        Measurement memory = memory(name, builder.get().name(NAME, 0), number, run);
        double nanos = PingPong.nanosEach(builder.get().name(NAME, 0), switches);
        return memory.and(SWITCH.key(), nanos / 1e3);
    }

    private static Measurement memory(String name, Thread.Builder builder, int number, Run run) throws Exception {
        long heapBefore = heap();
        OptionalLong residentBefore = NativeMemory.resident();
        try (ParkedThreads threads = new ParkedThreads()) {
            Sampler sampler =
                    Sampler.every(Duration.ofMillis(20), seconds -> run.point(name, seconds, threads.begun()));
            long begin = System.nanoTime();
            long took;
            try {
                threads.start(builder, number, run.get("depth"));
                took = System.nanoTime() - begin;
            } finally {
                sampler.end();
            }
            Measurement measured = Measurement.of(START.key(), took / 1e3 / number)
                    .and(HEAP.key(), (double) (heap() - heapBefore) / number);
            OptionalLong resident = NativeMemory.resident();
            return resident.isPresent() && residentBefore.isPresent()
                    ? measured.and(
                            RESIDENT.key(), (double) (resident.getAsLong() - residentBefore.getAsLong()) / number)
                    : measured;
        }
    }

    /** Bytes in use after a collection. */
    private static long heap() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    private static String sentence(List<Row> rows) {
        Row platform = rows.getFirst();
        Row virtual = rows.getLast();
        return "A parked platform thread took %s, a virtual one %s; a switch took %s and %s µs, a start %s and %s µs."
                .formatted(
                        bytes(platform),
                        bytes(virtual),
                        number(platform.median(SWITCH.key())),
                        number(virtual.median(SWITCH.key())),
                        number(platform.median(START.key())),
                        number(virtual.median(START.key())));
    }

    /** Not known where the memory outside of the heap is not. */
    static String right(List<Row> rows, Ranges ranges) {
        if (!rows.stream().allMatch(row -> row.figures().containsKey(RESIDENT.key()))) {
            return "";
        }
        Figure platform = all(rows.getFirst());
        Figure virtual = all(rows.getLast());
        if (virtual.median() < 1) {
            return NOTHING;
        }
        if (ranges.isMore(PLATFORM, platform, VIRTUAL, virtual)) {
            return LESS;
        }
        return !ranges.isMore(VIRTUAL, virtual, PLATFORM, platform)
                        && ranges.isAlike(PLATFORM, platform, VIRTUAL, virtual)
                ? THE_SAME
                : "";
    }

    private static Figure all(Row row) {
        return row.figure(HEAP).plus(row.figure(RESIDENT));
    }

    private static String bytes(Row row) {
        String heap = "%,.0f bytes of heap".formatted(row.median(HEAP.key()));
        return row.figures().containsKey(RESIDENT.key())
                ? heap + " and %,.0f outside of it".formatted(row.median(RESIDENT.key()))
                : heap;
    }

    private static List<String> notes() throws Exception {
        return List.of(
                NativeMemory.resident().isPresent()
                        ? "Memory outside of the heap: resident memory of the process with the threads, minus that without them,"
                                + " from /proc/self/smaps. Most of it is stacks, because the JVM reuses what it keeps of threads that"
                                + " have ended. The whole process counts, so a few bytes, or a negative number, mean none."
                        : "Memory outside of the heap is not known here: it takes Linux, and a collector that says where the heap lies.",
                "Heap: what is in use after a garbage collection with the threads, minus that without them. Some collectors count it"
                        + " in regions of megabytes, so more threads give a more exact figure.",
                "A switch: one thread parks, and another one, which it has woken, goes on. A start lasts until the thread is parked.");
    }
}
