package io.github.virtualthread.cluster;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** A JVM that runs {@link ReplicaProgram}. */
final class Replica implements AutoCloseable {

    private static final int SHOWN = 100; // lines of its log

    private final int id;
    private final Process process;
    private final Writer commands;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private final ConcurrentLinkedDeque<String> log = new ConcurrentLinkedDeque<>();

    /** Starts it, and does not wait until it is ready. */
    Replica(int id, int resource) throws IOException {
        this.id = id;
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx96m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData"));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), ReplicaProgram.class.getName()));
        command.addAll(List.of("" + id, "" + resource));
        process = new ProcessBuilder(command).redirectErrorStream(true).start();
        commands = process.outputWriter();
        Thread.ofPlatform().daemon().name("replica " + id).start(this::read);
    }

    private void read() {
        try (BufferedReader lines = process.inputReader()) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith(ReplicaProgram.ANSWER)) {
                    answers.add(line.substring(ReplicaProgram.ANSWER.length()));
                } else {
                    log.add(line);
                    if (log.size() > SHOWN) {
                        log.removeFirst();
                    }
                }
            }
        } catch (IOException closed) {
            // it has ended
        }
    }

    int id() {
        return id;
    }

    /** Waits for the answer. */
    String tell(String command) throws IOException, InterruptedException {
        send(command);
        return answer();
    }

    /** Tells all of them at once, and waits for their answers, which are in the same order. */
    static List<String> tellAll(List<Replica> replicas, String command) throws IOException, InterruptedException {
        return tellAll(replicas, replica -> command);
    }

    /** As before, but not all the same. */
    static List<String> tellAll(List<Replica> replicas, Function<Replica, String> command)
            throws IOException, InterruptedException {
        for (Replica replica : replicas) {
            replica.send(command.apply(replica));
        }
        List<String> answers = new ArrayList<>();
        for (Replica replica : replicas) {
            answers.add(replica.answer());
        }
        return answers;
    }

    /** Does not wait for the answer. */
    private void send(String command) throws IOException {
        commands.write(command + "\n");
        commands.flush();
    }

    /** Answer of the first command that has none yet; the very first answer is that it is ready. */
    String answer() throws InterruptedException {
        String answer = answers.poll(5, TimeUnit.MINUTES);
        if (answer == null || answer.startsWith("failed")) {
            throw new AssertionError("replica " + id + ": " + answer + "\n" + String.join("\n", log));
        }
        return answer;
    }

    void pause() throws IOException, InterruptedException {
        signal("STOP", process);
    }

    void goOn() throws IOException, InterruptedException {
        signal("CONT", process);
    }

    static void signal(String name, Process process) throws IOException, InterruptedException {
        int exit = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                .start()
                .waitFor();
        if (exit != 0) {
            throw new AssertionError("kill -" + name + " of " + process + ": " + exit);
        }
    }

    /** With a signal that it cannot see. */
    @Override
    public void close() {
        process.destroyForcibly();
    }
}
