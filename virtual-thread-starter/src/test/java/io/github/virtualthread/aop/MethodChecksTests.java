package io.github.virtualthread.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.aop.CreatedBeans.Created;
import io.github.virtualthread.aop.Findings.AdvisedMethod;
import io.github.virtualthread.mistake.Mistake;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import kotlin.coroutines.Continuation;
import org.junit.jupiter.api.Test;
import org.springframework.mock.env.MockEnvironment;
import org.springframework.scheduling.annotation.Async;
import org.springframework.util.StringValueResolver;

/** What is wrong with annotated methods, whoever calls them. */
class MethodChecksTests extends CheckedMethods {

    @Test
    void anUnknownLimitIsNamedWithTheNearestKnownOne() {
        assertThat(mistakes(Misspelt.class))
                .containsExactly(new Mistake(
                        here + "Misspelt.send asks for limit 'mial', but the configured limits are [mail, report]",
                        "Did you mean 'mail'? Correct @VirtualThread on " + here
                                + "Misspelt.send, or set virtual-thread.limits.mial.permits."));
    }

    static class Misspelt {
        @VirtualThread("mial")
        void send() {}
    }

    @Test
    void whereNoLimitIsNearNoneIsOffered() {
        limits = List.of();
        assertThat(mistakes(Misspelt.class)).singleElement().satisfies(mistake -> {
            assertThat(mistake.description()).endsWith("asks for limit 'mial', but no limits are configured");
            assertThat(mistake.action()).startsWith("Correct @VirtualThread on");
        });
    }

    @Test
    void aNameWithDotsIsShownAsAKeyThatWorks() {
        assertThat(mistakes(Dotted.class)).singleElement().satisfies(mistake -> assertThat(mistake.action())
                .endsWith("set virtual-thread.limits.\"[partner.api]\".permits."));
    }

    static class Dotted {
        @VirtualThread("partner.api")
        void send() {}
    }

    @Test
    void limitNamesAreComparedInTheirUniformForm() {
        limits = List.of("price-db");
        assertThat(mistakes(OtherSpelling.class)).isEmpty();
    }

    static class OtherSpelling {
        @VirtualThread("PRICE_db")
        void send() {}
    }

    @Test
    void aMistakeInTheAnnotationOfAClassIsToldOnce() {
        assertThat(mistakes(MisspeltClass.class)).singleElement().satisfies(mistake -> assertThat(mistake.description())
                .startsWith(here + "MisspeltClass asks for limit"));
    }

    @VirtualThread("mial")
    static class MisspeltClass {
        public void one() {}

        public void two() {}
    }

    @Test
    void everyReturnTypeOtherThanTheFourIsAMistake() {
        assertThat(mistakes(Returns.class))
                .extracting(Mistake::description)
                .satisfiesExactly(
                        first -> assertThat(first).contains("Returns.number returns int, but"),
                        second -> assertThat(second)
                                .contains("Returns.subclass returns java.util.concurrent.FutureTask, but")
                                .endsWith("exactly void, Future, CompletionStage or CompletableFuture"),
                        third -> assertThat(third).contains("Returns.text returns java.lang.String[], but"));
    }

    static class Returns {
        @VirtualThread
        String[] text() {
            return new String[0];
        }

        @VirtualThread
        int number() {
            return 1;
        }

        @VirtualThread
        FutureTask<String> subclass() {
            return new FutureTask<>(() -> "");
        }

        @VirtualThread
        Future<String> future() {
            return CompletableFuture.completedFuture("");
        }
    }

    @Test
    void underAnAnnotatedClassTheActionSpeaksOfTheClass() {
        assertThat(mistakes(Getter.class)).singleElement().satisfies(mistake -> assertThat(mistake.action())
                .startsWith("Remove @VirtualThread from " + here + "Getter and annotate single methods"));
    }

    @VirtualThread
    static class Getter {
        public String name() {
            return "";
        }
    }

    @Test
    void aSuspendingFunctionHasItsOwnMessage() {
        assertThat(mistakes(Suspending.class)).singleElement().satisfies(mistake -> assertThat(mistake.description())
                .contains("Suspending.send is a suspending function"));
    }

    static class Suspending {
        @VirtualThread
        Object send(String text, Continuation<String> continuation) {
            return text;
        }
    }

    @Test
    void asyncBesideItIsAMistakeWhereverEitherComesFrom() {
        for (Class<?> type : new Class<?>[] {
            BothOnMethod.class,
            AsyncClass.class,
            AsyncParent.class,
            ComposedAsync.class,
            AsyncMethodOfCoveredClass.class
        }) {
            assertThat(mistakes(type))
                    .as(type.getSimpleName())
                    .singleElement()
                    .satisfies(
                            mistake -> assertThat(mistake.description())
                                    .isEqualTo(
                                            type.getName()
                                                    + ".send has both @Async and @VirtualThread: the call would be moved to another thread twice"));
        }
    }

    static class BothOnMethod {
        @Async
        @VirtualThread
        void send() {}
    }

    @Async
    static class AsyncClass {
        @VirtualThread
        void send() {}
    }

    static class AsyncParent extends AsyncClass {
        @Override
        @VirtualThread
        void send() {}
    }

    static class ComposedAsync implements Sender {
        @Override
        @Listener
        public void send() {}
    }

    @Retention(RetentionPolicy.RUNTIME)
    @Async
    @interface Listener {}

    @VirtualThread
    static class AsyncMethodOfCoveredClass {
        @Async
        public void send() {}
    }

    @Test
    void anAsyncMethodBesideAVirtualOneIsNoMistake() {
        assertThat(mistakes(Beside.class)).isEmpty();
    }

    static class Beside {
        @Async
        void one() {}

        @VirtualThread
        void other() {}
    }

    @Test
    void asyncItselfMayBeTheChosenAnnotation() {
        AnnotatedMethods methods = new AnnotatedMethods(Async.class);
        assertThat(checks(methods).check(new Created(Beside.class, true)).mistakes())
                .isEmpty();
    }

    @Test
    void anUnresolvablePlaceholderIsAMistakeWithAStrictAndALenientResolver() {
        MockEnvironment environment = new MockEnvironment();
        for (StringValueResolver resolver :
                new StringValueResolver[] {environment::resolveRequiredPlaceholders, environment::resolvePlaceholders
                }) {
            AnnotatedMethods methods = new AnnotatedMethods(VirtualThread.class);
            SettingsChecks settings =
                    new SettingsChecks(new CallSettings(resolver, MethodSettings.NONE), () -> limits());
            assertThat(new MethodChecks(methods, settings, new ProxyChecks(methods))
                            .check(new Created(Placeholder.class, true))
                            .mistakes())
                    .singleElement()
                    .satisfies(mistake -> assertThat(mistake.description())
                            .startsWith("@VirtualThread on " + here + "Placeholder.send cannot be read")
                            .contains("the.name"));
        }
    }

    static class Placeholder {
        @VirtualThread(name = "${the.name}")
        void send() {}
    }

    @Test
    void anAnnotationThatContradictsItselfIsAMistakeNotAnError() {
        assertThat(mistakes(Contradicting.class)).singleElement().satisfies(mistake -> assertThat(mistake.description())
                .contains("@VirtualThread on " + here + "Contradicting.send contradicts itself"));
    }

    static class Contradicting {
        @VirtualThread(value = "mail", limit = "report")
        void send() {}
    }

    @Test
    void allMistakesOfAMethodAreFoundTogether() {
        assertThat(mistakes(Wrong.class)).hasSize(4);
    }

    static class Wrong {
        @Async
        @VirtualThread("mial")
        final String send() {
            return "";
        }
    }

    @Test
    void theFoundMethodsHaveTheirLimits() {
        defaultLimit = "mail";
        assertThat(check(Limits.class, true).advised().values())
                .extracting(AdvisedMethod::method, AdvisedMethod::limit)
                .containsExactly(
                        tuple(here + "Limits.byDefault", "mail"),
                        tuple(here + "Limits.named", "report"),
                        tuple(here + "Limits.out", null));
    }

    @Test
    void theFoundMethodsHaveTheirNamesAndTimeouts() {
        assertThat(check(Named.class, true).advised().values())
                .extracting(AdvisedMethod::name, AdvisedMethod::timeout)
                .containsExactly(tuple("Named.plain", null), tuple("daily-report", Duration.ofSeconds(2)));
    }

    static class Named {
        @VirtualThread
        void plain() {}

        @VirtualThread(name = "daily-report", timeout = "2s")
        void report() {}
    }

    static class Limits {
        @VirtualThread
        void byDefault() {}

        @VirtualThread("report")
        void named() {}

        @VirtualThread("none")
        void out() {}
    }

    @Test
    void anUnknownDefaultLimitIsNotToldForEveryMethod() {
        defaultLimit = "gone";
        assertThat(mistakes(Limits.class)).isEmpty();
    }
}
