package io.github.virtualthread.sample;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.scheduling.annotation.EnableAsync;

/** One product page in three ways: one part after the other, with Spring's {@code @Async}, and on virtual threads. */
@SpringBootApplication
@EnableAsync // for the page under /async; the starter needs no such annotation
public class SampleApplication {

    public static void main(String[] args) {
        SpringApplication.run(SampleApplication.class, args);
    }
}
