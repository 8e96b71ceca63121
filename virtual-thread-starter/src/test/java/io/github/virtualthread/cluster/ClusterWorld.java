package io.github.virtualthread.cluster;

import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.limit.TaskLimit.ClusterState.Lending;
import io.github.virtualthread.timer.TaskTimer;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Replicas that share a limit, their engine, and the messages on their way: what can happen there, and what may not. */
final class ClusterWorld {

    /** How it is when the events begin. */
    enum Beginning {
        /** Nobody has reached the engine. */
        COLD,
        /** All replicas have permits and use them. */
        ALL_LENT,
        /** All replicas use their local shares: the engine was away for all of them. */
        ALL_ALONE,
        /** The last replica has not started yet. */
        TWO_LENT
    }

    private static final long LEASE = TimeUnit.SECONDS.toNanos(10);
    private static final long BEAT = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long LONG_AGO = -30_000; // whether by a second more makes no difference

    private final int permits;
    private final LimitSettings settings;
    private final OnFailure onFailure;
    private final TaskTimer timer;
    private final List<Replica> replicas = new ArrayList<>();
    private final List<Message> messages = new ArrayList<>();
    private long nanos = 1L << 40;
    private long engineMillis = 1_000_000;
    private LimitLedger ledger = new LimitLedger(true);
    private String older = "";
    private String server = "one";
    private boolean isRepeated;
    private boolean isDisturbed; // one pause, end or start of a replica
    private boolean isLost; // one loss of data
    private boolean isStepped; // one step of the clock
    private boolean mayStop = true; // growth, for a lease: data are new, or were lost
    private boolean isStopped; // although it may not

    /** On its way to the engine, or back. */
    private record Message(
            Replica from, Claim claim, long sent, @Nullable Answer answer) {}

    ClusterWorld(LimitSettings settings, OnFailure onFailure, TaskTimer timer) {
        this.permits = settings.permits();
        this.settings = settings;
        this.onFailure = onFailure;
        this.timer = timer;
    }

    void begin(Beginning beginning) {
        int starting = beginning == Beginning.TWO_LENT ? permits - 1 : permits;
        for (int i = 0; i < permits; i++) {
            replicas.add(new Replica("replica-" + i));
            replicas.get(i).isUp = i < starting;
        }
        List<Replica> up = replicas.subList(0, starting);
        for (Replica replica : up) {
            replica.ask();
            replica.ask();
            replica.ask();
        }
        if (beginning == Beginning.COLD) {
            return;
        }
        up.forEach(this::exchange);
        pass(5_000);
        up.forEach(this::exchange);
        pass(5_100); // no data before: no growth for a lease
        older = ledger.text(); // nobody has anything yet
        up.forEach(this::exchange);
        pass(100);
        if (beginning == Beginning.ALL_ALONE) {
            pass(10_000);
            for (int i = 0; i < 5; i++) {
                pass(200);
            }
            pass(10_000);
        }
        mayStop = false;
    }

    /** What can happen now, always in the same order. */
    List<String> events() {
        List<String> all = new ArrayList<>();
        for (int i = 0; i < replicas.size(); i++) {
            Replica replica = replicas.get(i);
            if (!replica.isUp) {
                all.add("start " + i);
            } else if (replica.isAwake()) {
                all.add((replica.waitsFor == null ? "send " : "again ") + i);
                if (replica.waitsFor == null) {
                    all.add("exchange " + i);
                }
                if (replica.running() > 0) {
                    all.add("end " + i);
                }
                if (!isDisturbed) {
                    all.add("pause " + i);
                    if (replica.waitsFor == null) {
                        all.add("leave " + i);
                    }
                }
            }
        }
        for (int i = 0; i < Math.min(2, messages.size()); i++) {
            all.add("travel " + i);
            if (!isRepeated && messages.get(i).answer() == null) {
                all.add("twice " + i);
            }
        }
        if (!isLost) {
            all.add("lose 0");
            all.add("restore 0");
        }
        if (!isStepped) {
            all.add("step -1800000");
            all.add("step 1800000");
        }
        all.add("pass 200");
        all.add("pass 5000");
        all.add("lost 0"); // the lease of all, and the patience with the engine
        all.add("alone 0"); // and one more lease
        return all;
    }

    void happens(String event) {
        String what = event.substring(0, event.indexOf(' '));
        int n = Integer.parseInt(event.substring(what.length() + 1));
        switch (what) {
            case "start" -> {
                replicas.get(n).isUp = true;
                mayStop = true; // it cannot know whether all others have died
                replicas.get(n).ask();
                replicas.get(n).ask();
                exchange(replicas.get(n));
            }
            case "send", "again" -> replicas.get(n).send(false);
            case "exchange" -> exchange(replicas.get(n));
            case "end" -> replicas.get(n).end(1);
            case "pause" -> {
                isDisturbed = true;
                replicas.get(n).isPausedUntil = nanos + LEASE * 12 / 10;
            }
            case "leave" -> {
                isDisturbed = true;
                mayStop = true; // if it comes back, it is new
                replicas.get(n).send(true);
            }
            case "travel" -> travel(messages.remove(n));
            case "twice" -> {
                isRepeated = true;
                travel(messages.get(n));
            }
            case "lose" -> {
                isLost = true;
                mayStop = true;
                ledger = new LimitLedger(true);
            }
            case "restore" -> {
                isLost = true;
                mayStop = true;
                ledger = older.isEmpty() ? new LimitLedger(true) : LimitLedger.of(older);
                server = "another";
            }
            case "step" -> {
                isStepped = true;
                mayStop = true;
                engineMillis += n;
            }
            case "pass" -> pass(n);
            case "lost", "alone" -> {
                pass(9_000);
                for (int i = 0; i < 5; i++) {
                    pass(200);
                }
                if (what.equals("alone")) {
                    pass(10_000);
                }
            }
            default -> throw new IllegalArgumentException(event);
        }
    }

    private void exchange(Replica replica) {
        replica.send(false);
        travel(messages.removeLast());
        travel(messages.removeLast());
    }

    private void travel(Message message) {
        Replica from = message.from();
        boolean isWaitedFor = from.isAwake() && message.claim().equals(from.waitsFor);
        mayStop |= nanos - message.sent() > LEASE / 2; // as if the clock had stepped
        if (message.answer() == null) {
            mayStop |= message.claim().age().toNanos() >= LEASE; // it counts as new
            Answer answer = ledger.lend(message.claim(), engineMillis, server, Duration.ZERO);
            if (answer.refusal() == null) {
                messages.add(new Message(from, message.claim(), message.sent(), answer));
            } else if (isWaitedFor) {
                from.waitsFor = null;
                from.share.failed();
            }
        } else if (isWaitedFor) {
            from.waitsFor = null;
            from.share.answered(message.claim(), message.answer(), message.sent());
            isStopped |= !mayStop && !message.answer().noGrowthFor().isZero();
        }
    }

    private void pass(int millis) {
        nanos += TimeUnit.MILLISECONDS.toNanos(millis);
        engineMillis += millis;
        for (Replica replica : replicas) {
            if (replica.isUp && replica.isAwake()) {
                replica.share.look();
            }
            if (!replica.isLent()) {
                replica.end(Integer.MAX_VALUE);
            }
        }
    }

    /** All that decides what can happen from now on: times as distances from now, numbers as distances from the last claim. */
    String state() {
        StringBuilder state = new StringBuilder();
        state.append(isRepeated)
                .append(isDisturbed)
                .append(isLost)
                .append(isStepped)
                .append(mayStop)
                .append(server);
        ledger.text().lines().forEach(line -> state.append('|').append(relative(line.split(" "))));
        replicas.forEach(replica -> state.append('|').append(replica.state()));
        for (Message message : messages) {
            Claim claim = message.claim();
            state.append('|')
                    .append(message.from().distance(claim.number()))
                    .append(message.from().distance(claim.last()))
                    .append(List.of(claim.member(), claim.age(), claim.running(), claim.holds(), claim.wants()))
                    .append(List.of(claim.asks(), claim.turn(), claim.lease()))
                    .append(nanos - message.sent())
                    .append(message.answer() == null ? "" : relative(message.answer()));
        }
        return state.toString();
    }

    /** A line of a ledger: of the limit or of a member. */
    private List<Object> relative(String[] words) {
        List<Object> all = new ArrayList<>(List.of(words));
        if (words.length < 5) {
            all.set(0, Long.parseLong(words[0]) - engineMillis);
            all.set(1, Long.parseLong(words[1]) - engineMillis);
            all.set(2, Math.max(0, Long.parseLong(words[2]) - engineMillis));
        } else {
            all.set(
                    1,
                    replicas.get(words[0].charAt(words[0].length() - 1) - '0').distance(Long.parseLong(words[1])));
            all.set(5, Long.parseLong(words[5]) - engineMillis);
            all.set(6, Long.parseLong(words[6]) - engineMillis);
            all.set(8, Math.max(LONG_AGO, Long.parseLong(words[8]) - engineMillis));
            all.set(9, Math.max(LONG_AGO, Long.parseLong(words[9]) - engineMillis));
        }
        return all;
    }

    private static List<Object> relative(Answer answer) {
        List<Object> all = new ArrayList<>();
        all.addAll(List.of(answer.share(), answer.permits(), answer.kept(), answer.noGrowthFor()));
        for (Answer.Other other : answer.others()) {
            all.addAll(List.of(other.member(), other.holds(), other.wants(), other.permits()));
            all.addAll(List.of(other.since() - answer.now(), other.claimed() - answer.now()));
        }
        return all;
    }

    private static @Nullable Object value(Field field, Object object) {
        try {
            field.setAccessible(true);
            return field.get(object);
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }

    int lent() {
        return replicas.stream().mapToInt(Replica::uses).sum();
    }

    @Nullable
    String wrong() {
        if (isStopped) {
            return "no growth, although nothing was lost";
        }
        int lent = 0;
        int alone = 0;
        int begun = 0; // calls that had begun with more than is lent now
        for (Replica replica : replicas) {
            if (replica.isAlone()) {
                alone += replica.uses();
            } else {
                lent += replica.uses();
                begun += replica.uses() - (replica.isLent() ? replica.limit.lent() : 0);
            }
        }
        if (lent > permits || lent + alone - begun > permits) {
            return "%d lent, of which %d have begun before, and %d alone of %d: %s"
                    .formatted(lent, begun, alone, permits, replicas);
        }
        return null;
    }

    private final class Replica extends ClockedReplica {

        private boolean isUp;
        private @Nullable Claim waitsFor;
        private long isPausedUntil = nanos;
        private long lastNumber;

        Replica(String name) {
            super(
                    settings,
                    new ClusterSettings(name, Duration.ofNanos(LEASE), Duration.ofNanos(BEAT), onFailure, permits),
                    timer,
                    () -> nanos,
                    () -> {});
        }

        boolean isAwake() {
            return isPausedUntil - nanos <= 0;
        }

        boolean isAlone() {
            return limit.cluster().lending() == Lending.ALONE;
        }

        boolean isLent() {
            return share.isValid();
        }

        int uses() {
            return Math.max(isLent() ? limit.lent() : 0, running());
        }

        void send(boolean leaves) {
            if (waitsFor != null) {
                share.failed();
            }
            Claim claim = leaves ? share.goodbye() : share.claim();
            waitsFor = claim;
            lastNumber = claim.number();
            messages.add(new Message(this, claim, nanos, null));
        }

        /** Of the number of a claim from that of the last claim. */
        private long distance(long number) {
            return lastNumber - number;
        }

        /** The fields of an object, and of those that belong to it. */
        private String fields(Object object) {
            StringBuilder all = new StringBuilder();
            for (Field field : object.getClass().getDeclaredFields()) {
                Object value = value(field, object);
                Class<?> type = field.getType();
                if (Modifier.isStatic(field.getModifiers()) || type == LongSupplier.class) {
                    continue;
                }
                if (type == long.class) {
                    all.append(relative(field.getName(), (long) value)).append(' ');
                } else if (type == Lease.class || type == Demand.class) {
                    all.append(fields(value));
                } else if (value instanceof Answer answer) {
                    all.append(ClusterWorld.relative(answer));
                } else if (type == boolean.class || type == int.class || type.isEnum()) {
                    all.append(value).append(' ');
                }
            }
            return all.toString();
        }

        private long relative(String name, long value) {
            return switch (name) {
                case "answered" -> lastNumber - value;
                case "completed" -> limit.completed() - value;
                case "number", "length", "valid", "step", "lease" -> 0;
                default -> Math.max(-3 * LEASE, value - nanos);
            };
        }

        String state() {
            return isUp + " " + running() + " " + calls() + " " + Math.max(0, isPausedUntil - nanos) + " "
                    + (waitsFor == null) + limit.lent()
                    + " " + fields(share);
        }

        @Override
        public String toString() {
            return limit.cluster().lending() + " " + uses();
        }
    }
}
