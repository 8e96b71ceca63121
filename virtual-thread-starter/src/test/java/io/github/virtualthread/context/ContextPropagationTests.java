package io.github.virtualthread.context;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.virtualthread.context.CapturedContext.Scope;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.LoggerFactory;

/** Several kinds of context, some of them broken. */
@Timeout(300)
@Tag("jdk")
class ContextPropagationTests {

    private final List<String> events = new ArrayList<>();
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();

    @BeforeEach
    void open() {
        log.start();
        ((Logger) LoggerFactory.getLogger(ContextPropagation.class)).addAppender(log);
    }

    @AfterEach
    void close() {
        ((Logger) LoggerFactory.getLogger(ContextPropagation.class)).detachAppender(log);
    }

    /** A kind of context for a test. */
    record Kind(CapturedContext captured, Supplier<Scope> hiding) implements Capture {

        /** Hides nothing. */
        Kind(CapturedContext captured) {
            this(captured, () -> Scope.NOTHING);
        }

        @Override
        public CapturedContext get() {
            return captured;
        }

        @Override
        public Scope hide() {
            return hiding.get();
        }
    }

    private Capture noting(String name) {
        return new Kind(() -> noted("open " + name, "close " + name), () -> noted("hide " + name, "put back " + name));
    }

    private Scope noted(String now, String later) {
        events.add(now);
        return () -> events.add(later);
    }

    private static Capture failingToCapture(Throwable failure) {
        return new Capture() {
            @Override
            public CapturedContext get() {
                return sneak(failure);
            }

            @Override
            public Scope hide() {
                return Scope.NOTHING;
            }
        };
    }

    private static void openAndClose(CapturedContext captured) {
        Scope scope = ContextPropagation.open(captured);
        ContextPropagation.close(scope);
    }

    @Test
    void nothingToCarryIsNothingCaptured() {
        assertThat(ContextPropagation.none().capture()).isSameAs(CapturedContext.EMPTY);
        assertThat(ContextPropagation.none()
                        .with(new Kind(CapturedContext.EMPTY))
                        .capture())
                .isSameAs(CapturedContext.EMPTY);
        assertThatCode(() -> openAndClose(CapturedContext.EMPTY)).doesNotThrowAnyException();
    }

    @Test
    void closesInTheOppositeOrderOfOpening() {
        openAndClose(ContextPropagation.none()
                .with(noting("1"))
                .with(noting("2"))
                .with(noting("3"))
                .capture());

        assertThat(events).containsExactly("open 1", "open 2", "open 3", "close 3", "close 2", "close 1");
    }

    static Stream<Throwable> failures() {
        return Stream.of(
                new IllegalStateException("broken"), new NoClassDefFoundError("broken"), new AssertionError("broken"));
    }

    @ParameterizedTest
    @MethodSource("failures")
    void aCaptureThatFailsLeavesTheOthers(Throwable failure) {
        openAndClose(ContextPropagation.none()
                .with(failingToCapture(failure))
                .with(noting("2"))
                .capture());

        assertThat(events).containsExactly("open 2", "close 2");
        assertWarned("The context of the caller could not be captured; the task runs without it");
    }

    @ParameterizedTest
    @MethodSource("failures")
    void anOpeningThatFailsLeavesTheOthers(Throwable failure) {
        openAndClose(ContextPropagation.none()
                .with(noting("1"))
                .with(new Kind(() -> sneak(failure)))
                .with(noting("3"))
                .capture());

        assertThat(events).containsExactly("open 1", "open 3", "close 3", "close 1");
        assertWarned("The context of the caller could not be set; the task runs without it");
    }

    @ParameterizedTest
    @MethodSource("failures")
    void aClosingThatFailsLeavesTheOthers(Throwable failure) {
        openAndClose(ContextPropagation.none()
                .with(noting("1"))
                .with(new Kind(() -> () -> sneak(failure)))
                .capture());

        assertThat(events).containsExactly("open 1", "close 1");
        assertWarned("The context of the thread could not be restored after the task");
    }

    @Test
    void hidesAllKindsBeforeItOpensAndPutsThemBackInTheOppositeOrder() {
        ContextPropagation propagation =
                ContextPropagation.none().with(noting("1")).with(noting("2"));

        ContextPropagation.close(propagation.replace(propagation.capture()));

        assertThat(events)
                .containsExactly(
                        "hide 1", "hide 2", "open 1", "open 2", "close 2", "close 1", "put back 2", "put back 1");
    }

    @Test
    void hidesWhatTheCallerDidNotHave() {
        ContextPropagation.close(ContextPropagation.none().with(noting("1")).replace(CapturedContext.EMPTY));

        assertThat(events).containsExactly("hide 1", "put back 1");
    }

    @ParameterizedTest
    @MethodSource("failures")
    void aHidingThatFailsLeavesTheOthers(Throwable failure) {
        ContextPropagation.close(ContextPropagation.none()
                .with(noting("1"))
                .with(new Kind(CapturedContext.EMPTY, () -> sneak(failure)))
                .with(noting("3"))
                .replace(CapturedContext.EMPTY));

        assertThat(events).containsExactly("hide 1", "hide 3", "put back 3", "put back 1");
        assertWarned("The context of the thread could not be hidden; the task sees it");
    }

    private void assertWarned(String message) {
        assertThat(log.list).singleElement().satisfies(event -> {
            assertThat(event.getLevel()).isEqualTo(Level.WARN);
            assertThat(event.getFormattedMessage()).isEqualTo(message);
            assertThat(event.getThrowableProxy().getMessage()).isEqualTo("broken");
        });
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <R, T extends Throwable> R sneak(Throwable failure) throws T {
        throw (T) failure;
    }
}
