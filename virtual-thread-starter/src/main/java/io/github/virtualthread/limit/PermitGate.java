package io.github.virtualthread.limit;

import io.github.virtualthread.Internal;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** What a {@link PermitRequest} needs of its limit: the way in, out of the queue, and back out. */
interface PermitGate {

    /** The limit of a gate. */
    @Internal // public, like all that an interface has
    interface Owner {

        PermitGate gate();
    }

    /** The gate of a limit. */
    static PermitGate of(TaskLimit limit) {
        return ((Owner) limit).gate();
    }

    /** Grants the request, queues it, or says why not; see {@link PermitRequest#ask}. */
    @Nullable
    Reason admit(PermitRequest request, long longest);

    /** Hands the permit of a request over to the next in the queue, or returns it where nobody waits. */
    void release(PermitRequest request);

    /** Takes the permit of a request back that could not use it, and adds the request to the rejections. */
    void takeBack(PermitRequest request);

    /** Takes one request out of the queue, if it is still there. */
    boolean remove(PermitRequest request);

    /** Takes one request out of the queue, and has it reported on another thread. */
    boolean reject(PermitRequest request, Reason reason);

    /** The report of a request was claimed, after some thread had begun it, or before. */
    void claimed(PermitRequest request, boolean begun);

    /** See {@link PermitRequest#waiting}. */
    List<PermitRequest> waiting(int most);

    /** See {@link PermitRequest#findWaiting}. */
    Optional<PermitRequest> find(Predicate<PermitRequest> wanted);

    /** See {@link PermitRequest#unreported}. */
    List<PermitRequest> unreported();
}
