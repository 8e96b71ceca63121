package com.acme.hipster.service;

import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;
import org.springframework.stereotype.Service;

@Service
public class MailService {

    @VirtualThread
    public CompletableFuture<String> sendActivationEmail() {
        return CompletableFuture.completedFuture("sent on " + Thread.currentThread());
    }
}
