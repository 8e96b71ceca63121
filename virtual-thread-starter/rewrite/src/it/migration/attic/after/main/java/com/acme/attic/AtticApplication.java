package com.acme.attic;

import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.scheduling.annotation.Async;

@SpringBootApplication
class AtticApplication {

    // Stays @Async: no class has @EnableAsync, so it does nothing today. Remove it, or add @EnableAsync.
    @Async
    public void sweep() {}
}
