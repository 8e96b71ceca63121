package io.github.virtualthread.docs;

import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

@Component
class LimitWatch {

    private static final Logger log = LoggerFactory.getLogger(LimitWatch.class);

    private final TaskLimits limits;

    LimitWatch(TaskLimits limits) {
        this.limits = limits;
    }

    // example: LimitWatch
    @Scheduled(fixedRate = 60_000) // needs @EnableScheduling
    void report() {
        for (TaskLimit limit : limits.all()) {
            log.info(
                    "{}: {} of {} free, {} waiting", limit.name(), limit.available(), limit.permits(), limit.waiting());
        }
    }
    // end
}
