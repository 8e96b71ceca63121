package io.github.virtualthread.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.timer.TaskTimer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** A replica with one limit and the calls that a test makes, by a clock that it sets: nothing happens but what it does. */
class ClockedReplica {

    final TaskLimit limit;
    final ClusterShare share;
    private final List<Request> requests = new ArrayList<>();

    /** The beat and the name of the replica are those of the settings. */
    ClockedReplica(LimitSettings settings, ClusterSettings cluster, TaskTimer timer, LongSupplier clock, Runnable ask) {
        long beat = Objects.requireNonNull(cluster.beat()).toNanos();
        String member = Objects.requireNonNull(cluster.member());
        limit = new TaskLimits(List.of(settings), timer, change -> {}).get(settings.name());
        share = new ClusterShare(limit, member, cluster, clock, new Exchanges(() -> beat, ask));
        share.begin();
    }

    Request ask() {
        return asks(1).getFirst();
    }

    List<Request> asks(int calls) {
        List<Request> asking = new ArrayList<>();
        for (int i = 0; i < calls; i++) {
            Request request = new Request(limit);
            assertThat(request.asks()).isNull();
            asking.add(request);
        }
        requests.addAll(asking);
        return asking;
    }

    /** Why one more call is refused, null if it waits or runs. */
    @Nullable
    Reason refusal() {
        Request request = new Request(limit);
        Reason refused = request.asks();
        if (refused == null) {
            requests.add(request);
        }
        return refused;
    }

    int running() {
        return (int) requests.stream().filter(Request::isRunning).count();
    }

    /** Calls that wait and calls that run. */
    int calls() {
        return requests.size();
    }

    /** Ends so many calls that run, the oldest first; returns how many there were. */
    int end(int calls) {
        List<Request> ending =
                requests.stream().filter(Request::isRunning).limit(calls).toList();
        requests.removeAll(ending);
        ending.forEach(Request::ends);
        return ending.size();
    }
}
