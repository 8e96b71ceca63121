package io.github.virtualthread.sample.lab.experiment;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** The side of the child in the talk with {@link ChildJvm}: a line is asked, a line is answered. */
final class ChildAnswers {

    /** What tells an answer from all that is printed besides. */
    static final String PREFIX = "lab-answer: ";

    private ChildAnswers() {}

    /** Answers until nobody can ask any more, since the parent has ended; then ends this JVM, also in the midst of an answer. */
    static void give(Answers answers) {
        BlockingQueue<String> questions = new LinkedBlockingQueue<>();
        // a thread of its own, so that the end of the parent is seen whatever an answer waits for
        Thread.ofPlatform().daemon().name("lab-questions").start(() -> listen(questions));
        try {
            PrintStream out = System.out;
            while (true) {
                out.println(PREFIX + answers.answer(questions.take()));
                out.flush();
            }
        } catch (Throwable failure) {
            failure.printStackTrace(System.out); // the parent keeps the last lines
            System.out.flush();
            Runtime.getRuntime().halt(1);
        }
    }

    private static void listen(BlockingQueue<String> questions) {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                questions.add(line);
            }
        } catch (IOException closed) {
            // as good as the end
        } finally {
            Runtime.getRuntime().halt(0); // whatever still runs: nobody is there to wait for it
        }
    }

    /** What the child can tell. */
    @FunctionalInterface
    interface Answers {
        /** In one line. */
        String answer(String question) throws Exception;
    }
}
