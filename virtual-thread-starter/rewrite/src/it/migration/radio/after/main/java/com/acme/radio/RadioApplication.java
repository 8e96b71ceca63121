package com.acme.radio;

import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.web.socket.config.annotation.EnableWebSocketMessageBroker;

@EnableAsync
@EnableWebSocketMessageBroker
@SpringBootApplication
class RadioApplication {

    // Stays @Async: its executor is not certain. Name one in @Async, or set virtual-thread.default-limit.
    @Async
    public void broadcast() {}
}
