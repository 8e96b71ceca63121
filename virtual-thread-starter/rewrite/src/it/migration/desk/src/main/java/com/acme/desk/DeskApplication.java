package com.acme.desk;

import java.util.concurrent.Future;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;

@EnableAsync
@SpringBootApplication
class DeskApplication {

    @Async
    public Future<?> answer() {
        return null;
    }

    @Async
    private void archive() {}
}
