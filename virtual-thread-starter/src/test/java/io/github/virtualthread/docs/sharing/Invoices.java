package io.github.virtualthread.docs.sharing;

import io.github.virtualthread.Limited;
import io.github.virtualthread.docs.Shop.Price;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import java.math.BigDecimal;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Service;

/** Stands for a repository. */
@Service
class Invoices {

    @Autowired
    TaskLimits limits;

    /** Its amount is the number of permits in use. */
    @Limited("db")
    Price find(long id) {
        TaskLimit db = limits.get("db");
        return new Price(BigDecimal.valueOf(db.inUse()));
    }
}
