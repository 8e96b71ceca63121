package io.github.virtualthread.sample.lab.experiment;

import io.github.virtualthread.sample.lab.Answer.Column;
import io.github.virtualthread.sample.lab.Answer.Line;
import io.github.virtualthread.sample.lab.Measurement;
import io.github.virtualthread.sample.lab.Run;
import io.github.virtualthread.sample.lab.experiment.OverloadServer.Setup;
import io.github.virtualthread.sample.lab.experiment.OverloadServer.Way;
import java.time.Duration;

/**
 * A web server of one contender, under the load that was chosen and then under twice or half of it. The pool behind it has as much to do in both,
 * so what the processor has to do more or less is for the refusals.
 */
final class OverloadTrial {

    static final Column EACH = new Column("each", "processor time of a refusal", "µs");

    /** In percent of what the pool can do; twice as much may be more than the heap of the servers can take. */
    private static final int MOST_DOUBLED = 500;

    private static final int CLOSED = 0;

    private final ChildJvm jvm;
    private final Setup setup;
    private final Way way;
    private int port = CLOSED;

    OverloadTrial(ChildJvm jvm, Setup setup, Way way) {
        this.jvm = jvm;
        this.setup = setup;
        this.way = way;
    }

    /** Blocks until nobody waits for an answer. */
    Measurement warmUp(Run run, Duration asked) throws Exception {
        open();
        return ask(new DeadlineTally(setup.deadline(), asked), run.get("load"), asked);
    }

    /** Blocks until nobody waits for an answer. The line is that of what was done in time. */
    Measured measure(Run run, Duration asked) throws Exception {
        open();
        int load = run.get("load");
        DeadlineTally tally = new DeadlineTally(setup.deadline(), asked);
        CountedLines lines = new CountedLines(System.nanoTime()).with(way.label(), tally::inTime);
        long begin = processorTime();
        Measurement measured = lines.whileDrawn(run, () -> ask(tally, load, asked));
        long spent = processorTime() - begin;
        if (tally.refused() > 0) {
            measured = measured.and(EACH.key(), ofARefusal(tally, spent, load, asked));
        }
        return new Measured(tally.addTo(measured), lines.lines().getFirst());
    }

    private double ofARefusal(DeadlineTally tally, long spent, int load, Duration asked) throws Exception {
        open();
        DeadlineTally other = new DeadlineTally(setup.deadline(), asked);
        long begin = processorTime();
        Measurement unused = ask(other, load > MOST_DOUBLED ? load / 2 : 2 * load, asked);
        long otherSpent = processorTime() - begin;
        return each(otherSpent - spent, other.refused() - tally.refused());
    }

    /** In µs. The processor does more than this: its noise may be larger than what few refusals cost. */
    static double each(long nanos, int refusals) {
        return Math.max(0, nanos / 1e3 / Math.max(1, refusals));
    }

    private void open() throws InterruptedException {
        if (port == CLOSED) {
            port = Integer.parseInt(jvm.ask(setup.question(OverloadServer.OPEN, way)));
        }
    }

    private Measurement ask(DeadlineTally tally, int load, Duration asked) throws Exception {
        Measurement measured = tally.ask(load(load, asked));
        if (tally.isLeft()) {
            jvm.ask(setup.question(OverloadServer.CLOSE, way)); // it would go on to work for nobody
            port = CLOSED;
        }
        return measured;
    }

    private long processorTime() throws InterruptedException {
        return Long.parseLong(jvm.ask(OverloadServer.PROCESSOR));
    }

    /** Users who come at a steady rate and ask once. */
    private WebUsers.Load load(int percent, Duration asked) {
        int users = Math.toIntExact(Math.max(1, setup.perSecond(percent) * asked.toMillis() / 1_000));
        return new WebUsers.Load(
                port,
                DoorServer.PATH,
                users,
                asked,
                Duration.ZERO,
                users,
                ScarceUsers.LONGEST,
                asked.plus(setup.deadline().multipliedBy(2)));
    }

    record Measured(Measurement figures, Line line) {}
}
