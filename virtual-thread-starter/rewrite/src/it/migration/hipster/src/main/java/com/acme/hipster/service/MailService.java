package com.acme.hipster.service;

import java.util.concurrent.CompletableFuture;
import org.springframework.scheduling.annotation.Async;
import org.springframework.stereotype.Service;

@Service
public class MailService {

    @Async
    public CompletableFuture<String> sendActivationEmail() {
        return CompletableFuture.completedFuture("sent on " + Thread.currentThread());
    }
}
