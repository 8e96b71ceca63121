package io.github.virtualthread.sample.lab;

import io.github.virtualthread.sample.lab.Settings.Scale;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.stereotype.Service;

/** Runs experiments, one at a time: two would measure each other. */
@Service
public class Lab implements DisposableBean {

    private final Map<String, Experiment> experiments = new LinkedHashMap<>();
    private final AtomicLong numbers = new AtomicLong();
    private final AtomicReference<LabRun> latest = new AtomicReference<>();

    Lab(List<Experiment> experiments) {
        experiments.forEach(
                experiment -> this.experiments.put(experiment.about().id(), experiment));
    }

    /** All there are, in the order of the story. */
    public List<About> experiments() {
        return experiments.values().stream().map(Experiment::about).toList();
    }

    /** Its place in the story, from 1. */
    public int number(String id) {
        return List.copyOf(experiments.keySet()).indexOf(id) + 1;
    }

    /**
     * Starts an experiment, on a thread of its own.
     *
     * @param chosen values of parameters, the others have their defaults
     * @throws UnknownExperiment if there is none of that id
     * @throws Settings.BadSettings if a value cannot be
     * @throws Busy if another one runs
     */
    public LabRun start(String id, Map<String, String> chosen, Scale scale) {
        return start(id, Settings.of(find(id).about().parameters(), chosen, scale));
    }

    /** As {@link #start(String, Map, Scale)}, with settings that have been checked. */
    public LabRun start(String id, Settings settings) {
        Experiment experiment = find(id);
        LabRun run = new LabRun(numbers.incrementAndGet(), experiment, settings);
        LabRun before = latest.get();
        if ((before != null && !before.isDone()) || !latest.compareAndSet(before, run)) {
            throw new Busy(latest.get());
        }
        run.start();
        return run;
    }

    private Experiment find(String id) {
        Experiment experiment = experiments.get(id);
        if (experiment == null) {
            throw new UnknownExperiment(id, experiments.keySet());
        }
        return experiment;
    }

    /** The run of that number, if it is the latest. */
    public Optional<LabRun> run(long number) {
        return Optional.ofNullable(latest.get()).filter(run -> run.number() == number);
    }

    /** The one that runs now. */
    public Optional<LabRun> running() {
        return Optional.ofNullable(latest.get()).filter(run -> !run.isDone());
    }

    /** An experiment that runs when the application stops is cancelled. */
    @Override
    public void destroy() {
        running().ifPresent(LabRun::cancel);
    }

    /** There is no such experiment. */
    public static final class UnknownExperiment extends IllegalArgumentException {

        UnknownExperiment(String id, Iterable<String> known) {
            super("There is no experiment '%s', only %s".formatted(id, known));
        }
    }

    /** Another experiment runs. */
    public static final class Busy extends IllegalStateException {

        private final long run;

        Busy(LabRun running) {
            super("'%s' runs. Wait for its end, or cancel it".formatted(running.title()));
            this.run = running.number();
        }

        /** The number of the one that runs. */
        public long run() {
            return run;
        }
    }
}
