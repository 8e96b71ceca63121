package io.github.virtualthread.docs.deadlines;

import io.github.virtualthread.Limited;
import io.github.virtualthread.docs.Shop.Order;
import io.github.virtualthread.execution.Deadline;

/** Writes its journal also when its time is over. */
class Transfers {

    private final Partner partner;
    private final Journal journal;

    Transfers(Partner partner, Journal journal) {
        this.partner = partner;
        this.journal = journal;
    }

    // example: Transfers
    @Limited(limit = "partner", deadline = "2s")
    void transfer(Order order) throws Exception {
        try {
            partner.transfer(order); // may take all of the time
        } finally {
            Deadline.callWithout(() -> journal.write(order)); // @Limited, too
        }
    }
    // end

    /** Stands for a remote call. */
    interface Partner {

        void transfer(Order order);
    }

    /** Stands for a repository. */
    interface Journal {

        @Limited("db")
        boolean write(Order order);
    }
}
