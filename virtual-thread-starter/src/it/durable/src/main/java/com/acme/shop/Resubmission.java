package com.acme.shop;

import org.springframework.modulith.events.FailedEventPublications;
import org.springframework.modulith.events.ResubmissionOptions;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

@Component
class Resubmission {

    private final FailedEventPublications failed;

    Resubmission(FailedEventPublications failed) {
        this.failed = failed;
    }

    @Scheduled(initialDelayString = "${shop.resubmit-every}", fixedDelayString = "${shop.resubmit-every}")
    void resubmit() {
        failed.resubmit(ResubmissionOptions.defaults().withMaxInFlight(100)); // no more than the queue takes
    }
}
