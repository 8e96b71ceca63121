package io.github.virtualthread.sample;

import io.github.virtualthread.sample.lab.terminal.TerminalLab;
import org.springframework.boot.DefaultApplicationArguments;
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
        SpringApplication application = new SpringApplication(SampleApplication.class);
        boolean inTerminal = TerminalLab.isAskedFor(new DefaultApplicationArguments(args));
        if (inTerminal) {
            application.setDefaultProperties(TerminalLab.PROPERTIES);
        }
        ConfigurableApplicationContext context = application.run(args);
        if (inTerminal) {
            System.exit(SpringApplication.exit(context, context.getBean(TerminalLab.class)::run));
        }
    }
}
