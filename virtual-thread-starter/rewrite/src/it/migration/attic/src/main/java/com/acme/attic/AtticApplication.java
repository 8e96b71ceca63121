package com.acme.attic;

import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.scheduling.annotation.Async;

@SpringBootApplication
class AtticApplication {

    @Async
    public void sweep() {}
}
