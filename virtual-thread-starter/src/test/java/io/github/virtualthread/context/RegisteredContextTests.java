package io.github.virtualthread.context;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.context.CapturedContext.Scope;
import io.micrometer.context.ContextRegistry;
import io.micrometer.context.ThreadLocalAccessor;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.MDC;
import org.springframework.context.i18n.LocaleContextHolder;
import org.springframework.context.i18n.LocaleContextThreadLocalAccessor;

/** Thread-locals that are registered with Micrometer's context-propagation. */
@Timeout(300)
@Tag("jdk")
class RegisteredContextTests {

    private static final ThreadLocal<String> TENANT = new ThreadLocal<>();
    private final ContextPropagation propagation =
            ContextPropagation.none().withMdc().withRegisteredContext();

    /** Writes the MDC too, as a tracer does with its ids. */
    private static final class Tenant implements ThreadLocalAccessor<String> {

        @Override
        public Object key() {
            return Tenant.class;
        }

        @Override
        public String getValue() {
            return TENANT.get();
        }

        @Override
        public void setValue(String value) {
            if (value.equals("broken")) {
                throw new AssertionError("broken");
            }
            TENANT.set(value);
            MDC.put("tenant", "of the scope: " + value);
        }

        @Override
        public void setValue() {
            TENANT.remove();
        }
    }

    @BeforeEach
    void register() {
        ContextRegistry.getInstance().registerThreadLocalAccessor(new Tenant());
    }

    @AfterEach
    void remove() {
        ContextRegistry.getInstance().removeThreadLocalAccessor(Tenant.class);
        TENANT.remove();
        MDC.clear();
    }

    private static String open(CapturedContext captured, Supplier<String> within) {
        CompletableFuture<String> seen = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> {
            Scope scope = ContextPropagation.open(captured);
            String opened = within.get();
            ContextPropagation.close(scope);
            seen.complete(opened + ", then " + within.get());
        });
        return seen.orTimeout(2, TimeUnit.MINUTES).join();
    }

    @Test
    void travelAndAreGoneAfterwards() {
        TENANT.set("acme");
        CapturedContext captured = propagation.capture();
        TENANT.set("other");

        assertThat(open(captured, TENANT::get)).isEqualTo("acme, then null");
    }

    @Test
    void areOpenedAfterTheMdcSoThatWhatTheyWriteThereWins() {
        TENANT.set("acme");
        MDC.put("tenant", "of the caller");

        assertThat(open(propagation.capture(), () -> MDC.get("tenant"))).isEqualTo("of the scope: acme, then null");
    }

    @Test
    void leaveTheMdcWhenTheyFail() {
        TENANT.set("broken");
        MDC.put("user", "alice");

        assertThat(open(propagation.capture(), () -> MDC.get("user"))).isEqualTo("alice, then null");
    }

    @Test
    void theLocaleIsOneOfThemOnceSpringsAccessorIsRegistered() {
        Supplier<String> locale = () -> String.valueOf(LocaleContextHolder.getLocaleContext());
        LocaleContextHolder.setLocale(Locale.CANADA_FRENCH);
        try {
            assertThat(open(propagation.capture(), locale)).isEqualTo("null, then null");

            ContextRegistry.getInstance().registerThreadLocalAccessor(new LocaleContextThreadLocalAccessor());
            assertThat(open(propagation.capture(), locale)).isEqualTo("fr_CA, then null");
        } finally {
            ContextRegistry.getInstance().removeThreadLocalAccessor(LocaleContextThreadLocalAccessor.KEY);
            LocaleContextHolder.resetLocaleContext();
        }
    }

    @Test
    void doNotTravelUnlessAsked() {
        TENANT.set("acme");

        assertThat(open(ContextPropagation.none().withMdc().capture(), TENANT::get))
                .isEqualTo("null, then null");
    }

    @Test
    void capturesNothingWhereNothingIsSet() {
        assertThat(propagation.capture()).isSameAs(CapturedContext.EMPTY);

        TENANT.set("acme");

        assertThat(propagation.capture()).isNotSameAs(CapturedContext.EMPTY);
    }

    @Test
    void areReadOnceForEachCallBecauseReadingMayHaveAnEffect() {
        AtomicInteger reads = new AtomicInteger();
        ContextRegistry.getInstance()
                .registerThreadLocalAccessor("ticket", reads::incrementAndGet, number -> {}, () -> {});
        try {
            propagation.capture();

            assertThat(reads).hasValue(1);
        } finally {
            ContextRegistry.getInstance().removeThreadLocalAccessor("ticket");
        }
    }

    @Test
    void areThoseThatAreRegisteredAtTheMomentOfACall() {
        TENANT.set("acme");
        assertThat(open(propagation.capture(), TENANT::get)).isEqualTo("acme, then null");

        ContextRegistry.getInstance().removeThreadLocalAccessor(Tenant.class);
        assertThat(propagation.capture()).isSameAs(CapturedContext.EMPTY);

        ContextRegistry.getInstance().registerThreadLocalAccessor(new Tenant());
        assertThat(open(propagation.capture(), TENANT::get)).isEqualTo("acme, then null");
    }

    @Test
    void leaveTheOthersWhenOneFails() {
        ThreadLocal<String> other = new ThreadLocal<>();
        ContextRegistry.getInstance().registerThreadLocalAccessor("other", other);
        try {
            TENANT.set("broken");
            other.set("good");

            assertThat(open(propagation.capture(), other::get)).isEqualTo("good, then null");
        } finally {
            ContextRegistry.getInstance().removeThreadLocalAccessor("other");
        }
    }

    @Test
    void leaveTheOthersWhenOneCannotBeRead() {
        ContextRegistry.getInstance()
                .registerThreadLocalAccessor(
                        "unreadable",
                        () -> {
                            throw new AssertionError("broken");
                        },
                        value -> {},
                        () -> {});
        try {
            TENANT.set("acme");

            assertThat(open(propagation.capture(), TENANT::get)).isEqualTo("acme, then null");
        } finally {
            ContextRegistry.getInstance().removeThreadLocalAccessor("unreadable");
        }
    }

    @Test
    void areAbsentWhereTheCallerHasNone() {
        CapturedContext nothing = propagation.capture();
        TENANT.set("acme");

        Scope scope = propagation.replace(nothing);
        assertThat(TENANT.get()).isNull();
        ContextPropagation.close(scope);

        assertThat(TENANT.get()).isEqualTo("acme");
    }

    @Test
    void giveAThreadBackWhatItHadBefore() {
        TENANT.set("acme");
        CapturedContext captured = propagation.capture();
        TENANT.set("other");

        ContextPropagation.run(captured, () -> assertThat(TENANT.get()).isEqualTo("acme"));

        assertThat(TENANT.get()).isEqualTo("other");
    }
}
