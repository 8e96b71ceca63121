package io.github.virtualthread.cluster;

import io.github.virtualthread.limit.TaskLimit.ClusterState;
import io.github.virtualthread.limit.TaskLimit.ClusterState.Lending;
import io.github.virtualthread.limit.TaskLimit.Member;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The replicas that share a limit, as an operator sees them. */
final class Members {

    private Members() {}

    static ClusterState state(Member own, @Nullable Answer last, Lease lease, long now) {
        List<Member> members = new ArrayList<>(List.of(own));
        int permits = own.permits();
        if (last != null) {
            permits = Math.min(permits, last.permits());
            long time = last.now() + own.claimed().toMillis();
            last.others().forEach(other -> members.add(member(other, time)));
            members.sort(Comparator.comparing(Member::name));
        }
        long left = lease.left(now);
        boolean isOver = lease.lending() == Lending.LENT && left == 0;
        return new ClusterState(
                isOver ? Lending.LOST : lease.lending(),
                Duration.ofNanos(lease.sinceNanos(now)),
                permits,
                last == null ? 0 : last.kept(),
                last == null ? 0 : last.keptFor(),
                Duration.ofNanos(left),
                members);
    }

    private static Member member(Answer.Other other, long time) {
        boolean isHungry = other.wants() > other.holds();
        return new Member(
                other.member(),
                other.holds(),
                other.wants(),
                other.permits(),
                isHungry ? Duration.ofMillis(time - other.since()) : Duration.ZERO,
                Duration.ofMillis(time - other.claimed()));
    }
}
