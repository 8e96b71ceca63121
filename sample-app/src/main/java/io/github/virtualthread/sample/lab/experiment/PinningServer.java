package io.github.virtualthread.sample.lab.experiment;

import io.github.virtualthread.config.EnableVirtual;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimits;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Collectors;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;

/** Queries under a limit, in a JVM of its own: how many of them are done depends on the Java it runs on. */
@EnableVirtual
class PinningServer {

    /** Answered with the version of Java. */
    static final String JAVA = "java";

    /** Answered with whether a query can sleep in native code here. */
    static final String NATIVE = "native";

    /** With a number of permits, the milliseconds of a query, and whether it sleeps in native code: queries come from now on. */
    static final String START = "start";

    /** Answered with how many queries are done. */
    static final String DONE = "done";

    /** No more queries. Answered with the figures. */
    static final String STOP = "stop";

    private static final String LIMIT = "driver";

    private PinningQueries queries;
    private TaskLimits limits;
    private VirtualThreads virtualThreads;
    private PinningRound round;

    public static void main(String[] args) {
        ApplicationContext context = new SpringApplicationBuilder(PinningServer.class)
                .web(WebApplicationType.NONE)
                .run();
        PinningServer server = new PinningServer();
        server.queries = context.getBean(PinningQueries.class);
        server.limits = context.getBean(TaskLimits.class);
        server.virtualThreads = context.getBean(VirtualThreads.class);
        ChildAnswers.give(server::answer);
    }

    @Bean
    PinningQueries pinningQueries() {
        return new PinningQueries();
    }

    @Bean
    LimitSettings driver() {
        return LimitSettings.of(LIMIT, 1);
    }

    private String answer(String question) throws InterruptedException {
        String[] words = question.split(" ");
        return switch (words[0]) {
            case JAVA -> System.getProperty("java.version");
            case NATIVE -> String.valueOf(queries.canSleepInNativeCode());
            case START -> start(Integer.parseInt(words[1]), Integer.parseInt(words[2]), Boolean.parseBoolean(words[3]));
            case DONE -> String.valueOf(round.done());
            case STOP -> stop();
            default -> throw new IllegalArgumentException("Nobody can answer '%s'".formatted(question));
        };
    }

    private String start(int permits, int millis, boolean inNativeCode) {
        limits.get(LIMIT).resize(permits);
        round = new PinningRound(queries, millis, inNativeCode, 2 * permits); // as many wait as run
        round.begin();
        return "";
    }

    private String stop() throws InterruptedException {
        Map<String, Double> figures = round.end().figures();
        if (!virtualThreads.awaitIdle(Duration.ofSeconds(10))) {
            throw new IllegalStateException("Queries still run 10 s after they were cancelled");
        }
        return figures.entrySet().stream()
                .map(figure -> figure.getKey() + "=" + figure.getValue())
                .collect(Collectors.joining(" "));
    }
}
