package io.github.virtualthread.sample;

import io.github.virtualthread.sample.lab.terminal.TerminalLab;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.scheduling.annotation.EnableAsync;

/**
 * One product page in three ways: one part after the other, with Spring's {@code @Async}, and on virtual threads. And a lab
 * that measures what they do: in the browser, or with {@code --lab=all} in the terminal.
 */
@SpringBootApplication
@EnableAsync // for the page under /async; the starter needs no such annotation
public class SampleApplication {

    public static void main(String[] args) {
        ConfigurableApplicationContext context = SpringApplication.run(SampleApplication.class, args);
        TerminalLab lab = context.getBean(TerminalLab.class);
        if (lab.isAskedFor()) {
            System.exit(SpringApplication.exit(context, lab::run));
        }
    }
}
