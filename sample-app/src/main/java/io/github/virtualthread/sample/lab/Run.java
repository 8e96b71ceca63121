package io.github.virtualthread.sample.lab;

import io.github.virtualthread.sample.lab.Answer.Row;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One run of an experiment: what was chosen, and who watches. */
public final class Run {

    private final Settings settings;
    private final Watcher watcher;

    public Run(Settings settings, Watcher watcher) {
        this.settings = settings;
        this.watcher = watcher;
    }

    public int get(String parameter) {
        return settings.get(parameter);
    }

    /** A new line of that name begins, in place of an older one. */
    public void begin(String line) {
        watcher.begin(line);
    }

    /** A point of a line that is drawn while the experiment runs. */
    public void point(String line, double x, double y) {
        watcher.point(line, x, y);
    }

    /** How far it is, from 0 to 1, and what it does; told by {@link #compare} itself. */
    public void progress(double done, String text) {
        watcher.progress(done, text);
    }

    /** Each contender once unmeasured, then all of them in rounds; every other round backwards, so that none is always first. */
    public List<Row> compare(List<Contender> contenders) throws Exception {
        int rounds = get(Parameter.ROUNDS.name());
        int steps = contenders.size() * (rounds + 1);
        int step = 0;
        for (Contender contender : contenders) {
            watcher.progress((double) step++ / steps, "Warming up: " + contender.name());
            contender.warmUp().measure();
        }
        Map<String, List<Measurement>> measured = new LinkedHashMap<>();
        contenders.forEach(contender -> measured.put(contender.name(), new ArrayList<>()));
        for (int round = 1; round <= rounds; round++) {
            for (Contender contender : round % 2 == 1 ? contenders : contenders.reversed()) {
                watcher.progress(
                        (double) step++ / steps, "Round %d of %d: %s".formatted(round, rounds, contender.name()));
                watcher.begin(contender.name());
                measured.get(contender.name()).add(contender.trial().measure());
            }
        }
        return measured.entrySet().stream()
                .map(each -> Row.of(each.getKey(), each.getValue()))
                .toList();
    }

    /** Who watches a run. Called on the threads of the experiment, also of several at once. */
    public interface Watcher {

        /** How far it is, from 0 to 1, and what it does. */
        void progress(double done, String text);

        /** A new line of that name begins, in place of an older one. */
        void begin(String line);

        /** The line goes on to that point. */
        void point(String line, double x, double y);
    }
}
