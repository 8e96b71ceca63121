package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(300)
@Tag("slow")
class ChildJvmTests {

    @Test
    void itAnswersWithTheClassesAndTheOptionsItWasGiven() throws Exception {
        try (ChildJvm child = ChildJvm.start(Child.class, List.of("-Dlab.word=carrier"))) {
            assertThat(child.ask("word")).isEqualTo("carrier");
            assertThat(process(child).parent()).contains(ProcessHandle.current());
        }
    }

    @Test
    void itIsGoneWhenItIsClosed() throws Exception {
        ChildJvm child = ChildJvm.start(Child.class, List.of());
        ProcessHandle process = process(child);

        child.close();

        assertThat(process.isAlive()).isFalse();
    }

    @Test
    void whoWaitsForItCanBeInterruptedAndLeavesNone() throws Exception {
        CompletableFuture<ProcessHandle> started = new CompletableFuture<>();
        CountDownLatch interrupted = new CountDownLatch(1);
        Thread asking = Thread.ofVirtual().start(() -> {
            try (ChildJvm child = ChildJvm.start(Child.class, List.of())) {
                started.complete(process(child));
                child.ask("hang");
            } catch (InterruptedException expected) {
                interrupted.countDown();
            } catch (Exception failure) {
                started.completeExceptionally(failure);
            }
        });
        ProcessHandle process = started.get(10, TimeUnit.MINUTES);

        asking.interrupt();

        assertThat(interrupted.await(2, TimeUnit.MINUTES)).isTrue();
        assertThat(process.isAlive()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"idle child", "busy child"})
    void itEndsWithItsParent(String question) throws Exception {
        ProcessHandle grandchild;
        try (ChildJvm child = ChildJvm.start(Child.class, List.of())) {
            grandchild = process(child.ask(question));
            assertThat(grandchild.isAlive()).isTrue();
        } // killed: it had no time to end its own child

        try {
            assertThat(grandchild.onExit()).succeedsWithin(2, TimeUnit.MINUTES);
        } finally {
            grandchild.destroyForcibly();
        }
    }

    @Test
    void whatItSaidLastIsInTheFailure() throws Exception {
        try (ChildJvm child = ChildJvm.start(Child.class, List.of())) {
            assertThatThrownBy(() -> child.ask("fail"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith("The JVM of Child ended instead of answering 'fail'. Its last lines:")
                    .hasMessageContaining("no more memory for lessons");
            assertThatThrownBy(() -> child.ask("word")).hasMessageContaining("ended instead of answering 'word'");
        }
    }

    @Test
    void anOptionThatTheJvmDoesNotKnowIsTold() throws Exception {
        try (ChildJvm child = ChildJvm.start(Child.class, List.of("-XX:+NoSuchOption"))) {
            assertThatThrownBy(() -> child.ask("word")).hasMessageContaining("NoSuchOption");
        }
    }

    @Test
    void withoutAJavaToStartItSaysWhere() {
        assertThatThrownBy(() -> ChildJvm.start(Path.of("no", "java"), Child.class, List.of()))
                .hasMessage(
                        "This experiment starts another JVM, and there is none at %s; run the sample on a whole Java"
                                .formatted(Path.of("no", "java", "bin", "java")));
    }

    private static ProcessHandle process(ChildJvm child) throws InterruptedException {
        return process(child.ask("pid"));
    }

    private static ProcessHandle process(String pid) {
        return ProcessHandle.of(Long.parseLong(pid)).orElseThrow();
    }

    /** What runs in the other JVM. */
    static final class Child {

        public static void main(String[] args) {
            System.out.println("not an answer");
            ChildAnswers.give(Child::answer);
        }

        private static String answer(String question) throws Exception {
            return switch (question) {
                case "word" -> System.getProperty("lab.word", "");
                case "pid" -> String.valueOf(ProcessHandle.current().pid());
                case "hang" -> {
                    new CountDownLatch(1).await();
                    yield "never";
                }
                case "idle child" -> ChildJvm.start(Child.class, List.of()).ask("pid");
                case "busy child" -> ChildJvm.start(Child.class, List.of()).ask("pid, and hang");
                case "pid, and hang" -> {
                    System.out.println(ChildAnswers.PREFIX + answer("pid")); // asked no more, and still in its answer
                    yield answer("hang");
                }
                default -> throw new IllegalStateException("no more memory for lessons");
            };
        }
    }
}
