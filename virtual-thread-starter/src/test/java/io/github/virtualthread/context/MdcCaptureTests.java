package io.github.virtualthread.context;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.context.CapturedContext.Scope;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.MDC;

/** With Logback behind SLF4J, as Spring Boot has it. */
@Timeout(300)
@Tag("jdk")
class MdcCaptureTests {

    private final ContextPropagation propagation = ContextPropagation.none().withMdc();

    /** Runs with the captured context open, and tells what MDC is there before, within and after. */
    private static List<Map<String, String>> seen(CapturedContext captured, Runnable within) {
        CompletableFuture<List<Map<String, String>>> seen = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> {
            Map<String, String> before = mdc();
            Scope scope = ContextPropagation.open(captured);
            within.run();
            Map<String, String> opened = mdc();
            ContextPropagation.close(scope);
            seen.complete(List.of(before, opened, mdc()));
        });
        return seen.orTimeout(2, TimeUnit.MINUTES).join();
    }

    private static Map<String, String> mdc() {
        Map<String, String> entries = MDC.getCopyOfContextMap();
        return entries == null ? Map.of() : entries;
    }

    @Test
    void isThereWhileOpenAndGoneAfterwards() {
        MDC.put("user", "alice");
        MDC.put("request", "7");

        assertThat(seen(propagation.capture(), () -> {}))
                .containsExactly(Map.of(), Map.of("user", "alice", "request", "7"), Map.of());
    }

    @Test
    void isWhatItWasWhenTheCallWasMade() {
        MDC.put("user", "alice");
        CapturedContext captured = propagation.capture();
        MDC.put("user", "bob");
        MDC.put("late", "yes");

        assertThat(seen(captured, () -> {}).get(1)).isEqualTo(Map.of("user", "alice"));
    }

    @Test
    void aBurstOfCallsSharesOneCopyUntilTheMdcChanges() {
        MDC.put("user", "alice");
        CapturedContext first = propagation.capture();
        CapturedContext second = propagation.capture();
        MDC.put("user", "bob");
        CapturedContext third = propagation.capture();

        assertThat(second).isSameAs(first);
        assertThat(third.mdc()).isEqualTo(Map.of("user", "bob"));
    }

    @Test
    void aKeyWithoutAValueTravelsToo() {
        MDC.put("user", "alice");
        MDC.put("nobody", null);

        assertThat(seen(propagation.capture(), () -> {}).get(1))
                .containsEntry("user", "alice")
                .containsEntry("nobody", null);
    }

    @Test
    void changesOfTheTaskReachNeitherTheCallerNorTheNextTask() {
        MDC.put("user", "alice");
        CapturedContext captured = propagation.capture();

        seen(captured, () -> {
            MDC.put("user", "mallory");
            MDC.put("more", "yes");
        });

        assertThat(mdc()).isEqualTo(Map.of("user", "alice"));
        assertThat(seen(captured, () -> {}).get(1)).isEqualTo(Map.of("user", "alice"));
    }

    @Test
    void whatTheTaskAddsIsGoneAfterwards() {
        MDC.put("user", "alice");

        assertThat(seen(propagation.capture(), () -> MDC.put("more", "yes")).get(2))
                .isEmpty();
    }

    @Test
    void anEmptyOneIsNotCarriedAtAll() {
        assertThat(propagation.capture()).isSameAs(CapturedContext.EMPTY);
        MDC.put("user", "alice");
        MDC.remove("user");
        assertThat(propagation.capture()).isSameAs(CapturedContext.EMPTY);
    }

    @Test
    void aChangeIsNeverServedFromAKeptCopy() {
        MDC.put("user", "alice");
        CapturedContext before = propagation.capture();
        CapturedContext again = propagation.capture();
        MDC.put("user", "bob");
        CapturedContext changed = propagation.capture();
        MDC.put("user", "alice");
        CapturedContext changedBack = propagation.capture();

        assertThat(seen(again, () -> {}).get(1)).isEqualTo(Map.of("user", "alice"));
        assertThat(seen(changed, () -> {}).get(1)).isEqualTo(Map.of("user", "bob"));
        assertThat(seen(before, () -> {}).get(1)).isEqualTo(Map.of("user", "alice"));
        assertThat(changedBack).as("equal, but another map").isNotSameAs(before);
    }

    @Test
    void takesThePlaceOfWhatWasThere() {
        MDC.put("user", "alice");
        CapturedContext captured = propagation.capture();
        MDC.clear();
        MDC.put("left", "behind");

        Scope scope = ContextPropagation.open(captured);
        Map<String, String> opened = mdc();
        ContextPropagation.close(scope);

        assertThat(opened).isEqualTo(Map.of("user", "alice"));
        assertThat(mdc()).isEmpty();
    }

    @Test
    void manyKeysTravelToo() {
        Map<String, String> many = new HashMap<>();
        for (int i = 0; i < 100; i++) {
            many.put("key" + i, "value" + i);
        }
        MDC.setContextMap(many);

        assertThat(seen(propagation.capture(), () -> {}).get(1)).isEqualTo(many);
        assertThat(propagation.capture().mdc()).isEqualTo(many);
    }

    @Test
    void evenAKeyThatIsNoneTravels() {
        Map<@Nullable String, String> strange = new HashMap<>(Map.of("user", "alice"));
        strange.put(null, "nobody");
        MDC.setContextMap(strange);

        assertThat(seen(propagation.capture(), () -> {}).get(1)).isEqualTo(strange);
    }

    @Test
    void isShownAsItWasAndCannotBeChanged() {
        MDC.put("user", "alice");
        Map<String, String> shown = propagation.capture().mdc();

        assertThat(shown).isEqualTo(Map.of("user", "alice"));
        assertThatThrownBy(shown::clear).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void givesAThreadBackAllKeysAlsoWhereItCarriesSome() {
        ContextPropagation some = ContextPropagation.none().withMdc(List.of("user"));
        MDC.put("user", "alice");
        CapturedContext captured = some.capture();
        Map<String, String> ofThread = Map.of("user", "bob", "color", "red");
        MDC.setContextMap(ofThread);

        Scope scope = some.replace(captured);
        Map<String, String> replaced = mdc();
        MDC.put("more", "yes");
        ContextPropagation.close(scope);

        assertThat(replaced).isEqualTo(Map.of("user", "alice"));
        assertThat(mdc()).isEqualTo(ofThread);
    }

    @Test
    void leavesAThreadEmptyThatWasEmpty() {
        Scope scope = propagation.replace(CapturedContext.EMPTY);
        MDC.put("more", "yes");
        ContextPropagation.close(scope);

        assertThat(mdc()).isEmpty();
    }

    @Test
    void carriesOnlyTheKeysItWasTold() {
        ContextPropagation some = ContextPropagation.none().withMdc(List.of("user", "absent"));
        MDC.put("user", "alice");
        MDC.put("secret", "x");

        assertThat(seen(some.capture(), () -> {}).get(1)).isEqualTo(Map.of("user", "alice"));
        MDC.remove("user");
        assertThat(some.capture()).isSameAs(CapturedContext.EMPTY);
    }
}
