package com.acme.desk;

import io.github.virtualthread.VirtualThread;
import java.util.concurrent.Future;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;

@EnableAsync
@SpringBootApplication
class DeskApplication {

    @VirtualThread
    public Future<?> answer() {
        return null;
    }

    // Stays @Async: it is private, so that calls bypass the proxy.
    @Async
    private void archive() {}
}
