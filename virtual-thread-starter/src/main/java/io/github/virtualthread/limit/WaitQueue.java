package io.github.virtualthread.limit;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * First in, first out, with removal from the middle in constant time. Everything but {@link #size()} and
 * {@link #isEmpty()} needs the lock of the limit.
 */
final class WaitQueue extends RequestList {

    private volatile int size;

    int size() {
        return size;
    }

    boolean isEmpty() {
        return size == 0;
    }

    /** The first requests, at most this many. */
    List<PermitRequest> first(int most) {
        List<PermitRequest> first = new ArrayList<>();
        for (PermitRequest each = peek(); each != null && first.size() < most; each = each.next) {
            first.add(each);
        }
        return first;
    }

    /** The first request that is wanted. */
    Optional<PermitRequest> find(Predicate<PermitRequest> wanted) {
        for (PermitRequest each = peek(); each != null; each = each.next) {
            if (wanted.test(each)) {
                return Optional.of(each);
            }
        }
        return Optional.empty();
    }

    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate") // written under the lock only
    void add(PermitRequest request) {
        super.add(request);
        request.queued(true);
        size++;
    }

    @Nullable
    PermitRequest poll() {
        PermitRequest first = peek();
        if (first != null) {
            remove(first);
        }
        return first;
    }

    /** Removes the first request, if it has waited at least this long at that moment of {@link System#nanoTime()}. */
    @Nullable
    PermitRequest pollWaitingAtLeast(long nanos, long moment) {
        PermitRequest first = peek();
        return first != null && moment - first.joinedAt >= nanos ? poll() : null;
    }

    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate") // written under the lock only
    void remove(PermitRequest request) {
        super.remove(request);
        request.queued(false);
        size--;
    }
}
