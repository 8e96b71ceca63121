package com.acme.queries;

import io.github.virtualthread.execution.TaskCall;
import io.github.virtualthread.execution.TaskListener;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.LongStream;

/** What becomes of calls with a query, seen by a listener that asks the server when a call has given its permit back. */
final class Calls implements TaskListener {

    /** Mostly a body comes to its slow query before. */
    static final String TIMEOUT = "500ms";

    /** Also on a busy machine it does. */
    static final String LONG_TIMEOUT = "30s";

    /** What a call runs; its SQL has the number in a comment. */
    record Query(int number, String sql) {}

    private record Run(TaskCall call, Query query) {}

    private final Database database;
    private final ThreadLocal<TaskCall> started = new ThreadLocal<>();
    private final ThreadLocal<Run> running = new ThreadLocal<>();
    private final Map<Integer, Long> ids = new ConcurrentHashMap<>();
    private final Map<Integer, Long> stopped = new ConcurrentHashMap<>();
    private final Map<Integer, Long> begun = new ConcurrentHashMap<>();
    private final Map<Integer, Long> ended = new ConcurrentHashMap<>();
    private final List<Integer> stillThere = Collections.synchronizedList(new ArrayList<>());
    private final Map<StatementOutcome, Integer> outcomes =
            Collections.synchronizedMap(new EnumMap<>(StatementOutcome.class));

    private volatile long ran;

    Calls(Database database) {
        this.database = database;
    }

    @Override
    public void started(TaskCall call) {
        started.set(call);
    }

    /** On the thread of the body. */
    void runs(Query query) {
        running.set(new Run(started.get(), query));
        begun.put(query.number(), System.nanoTime());
        ids.put(query.number(), started.get().id());
    }

    @Override
    public void statementEnded(TaskCall call, StatementOutcome outcome) {
        outcomes.merge(outcome, 1, Integer::sum);
    }

    @Override
    public void finished(TaskCall call, Outcome outcome, Throwable failure) {
        ran = call.ran().toMillis();
        Run run = running.get();
        if (run == null) {
            return;
        }
        ended.put(run.query().number(), System.nanoTime());
        if (database.queries().contains(run.query().number())) {
            stillThere.add(run.query().number());
        }
    }

    /** The number that the endpoint has for the call. */
    long id(int number) {
        return ids.get(number);
    }

    boolean hasBegun(int number) {
        return begun.containsKey(number);
    }

    long begun(int number) {
        return begun.get(number);
    }

    /** Somebody stops the call now. */
    void stops(int number) {
        stopsAt(number, System.nanoTime());
    }

    void stopsAt(int number, long time) {
        stopped.put(number, time);
    }

    boolean isStopped(int number) {
        return stopped.containsKey(number);
    }

    List<Integer> stillThere() {
        return List.copyOf(stillThere);
    }

    Map<StatementOutcome, Integer> outcomes() {
        return Map.copyOf(outcomes);
    }

    /** How long the last body ran, in milliseconds. */
    long ran() {
        return ran;
    }

    /** How many bodies have ended. */
    int ended() {
        return ended.size();
    }

    /** Milliseconds from the stops to the permits. */
    long median() {
        long[] times = times().sorted().toArray();
        return times.length == 0 ? 0 : times[times.length / 2];
    }

    long slowest() {
        return times().max().orElse(0);
    }

    private LongStream times() {
        return ended.entrySet().stream()
                .filter(each -> stopped.containsKey(each.getKey()))
                .mapToLong(each -> (each.getValue() - stopped.get(each.getKey())) / 1_000_000);
    }

    void forget() {
        List.of(ids, stopped, begun, ended, outcomes).forEach(Map::clear);
        stillThere.clear();
    }
}
