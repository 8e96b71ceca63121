package io.github.virtualthread.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.aop.CreatedBeans.Created;
import io.github.virtualthread.aop.Findings.AdvisedMethod;
import io.github.virtualthread.aop.MethodChecks.Checked;
import io.github.virtualthread.aop.other.PackagePrivateBase;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import io.github.virtualthread.timer.TaskTimer;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import kotlin.coroutines.Continuation;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.mock.env.MockEnvironment;
import org.springframework.scheduling.annotation.Async;
import org.springframework.util.StringValueResolver;

class MethodChecksTests {

    private static final String HERE = MethodChecksTests.class.getName() + "$";

    private List<String> limits = List.of("mail", "report");
    private String defaultLimit;

    @Test
    void anUnknownLimitIsNamedWithTheNearestKnownOne() {
        assertThat(mistakes(Misspelt.class))
                .containsExactly(new Mistake(
                        HERE + "Misspelt.send asks for limit 'mial', but the configured limits are [mail, report]",
                        "Did you mean 'mail'? Correct @VirtualThread on " + HERE
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
                .startsWith(HERE + "MisspeltClass asks for limit"));
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
                .startsWith("Remove @VirtualThread from " + HERE + "Getter and annotate single methods"));
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

    interface Sender {
        @VirtualThread
        void send();
    }

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
    void finalPrivateAndStaticAreMistakesUnderAClassProxy() {
        assertThat(mistakes(Unreachable.class))
                .extracting(Mistake::description)
                .satisfiesExactly(
                        first -> assertThat(first).contains("Unreachable.fixed has @VirtualThread, but is final"),
                        second -> assertThat(second).contains("Unreachable.hidden has @VirtualThread, but is private"),
                        third -> assertThat(third).contains("Unreachable.shared has @VirtualThread, but is static"));
    }

    static class Unreachable {
        @VirtualThread
        public final void fixed() {}

        @VirtualThread
        private void hidden() {}

        @VirtualThread
        static void shared() {}
    }

    @Test
    void underAnAnnotatedClassTheyAreLeftOut() {
        assertThat(mistakes(LeftOut.class)).isEmpty();
        assertThat(check(LeftOut.class, true).advised().values())
                .extracting(AdvisedMethod::method, AdvisedMethod::limit)
                .containsExactly(tuple(HERE + "LeftOut.run", "report"));
    }

    @VirtualThread("report")
    static class LeftOut {
        public final String fixed() {
            return "";
        }

        private void hidden() {}

        public static void shared() {}

        public void run() {}
    }

    @Test
    void aFinalMethodOfAnAnnotatedInterfaceMethodIsAMistakeUnderAClassProxyOnly() {
        assertThat(mistakes(FinalSender.class)).hasSize(1);
        assertThat(check(FinalSender.class, false).mistakes()).isEmpty();
    }

    static class FinalSender implements Sender {
        @Override
        public final void send() {}
    }

    @Test
    void aFinalClassWithoutAnInterfaceNeedsOne() {
        assertThat(mistakes(FinalClassAlone.class))
                .extracting(Mistake::action)
                .containsExactly(
                        "Make the class non-final (in Kotlin open, or use the kotlin-spring plugin), or let"
                                + " it implement an interface and use interface proxies (spring.aop.proxy-target-class: false).");
    }

    static final class FinalClassAlone {
        @VirtualThread
        public void send() {}
    }

    @Test
    void aFinalOrSealedClassIsOneMistakeUnderAClassProxyOnly() {
        assertThat(mistakes(FinalClass.class))
                .containsExactly(new Mistake(
                        HERE + "FinalClass has methods with @VirtualThread, but cannot be proxied, because it is final",
                        "Make the class non-final (in Kotlin open, or use the kotlin-spring plugin), or use "
                                + "interface proxies (spring.aop.proxy-target-class: false)."));
        assertThat(mistakes(SealedClass.class)).singleElement().satisfies(mistake -> assertThat(mistake.description())
                .contains("but cannot be proxied, because it is sealed"));
        assertThat(check(FinalClass.class, false).mistakes()).isEmpty();
    }

    static final class FinalClass implements Sender {
        @Override
        public final void send() {}
    }

    static sealed class SealedClass implements Sender {
        @Override
        public void send() {}
    }

    static final class Permitted extends SealedClass {}

    @Test
    void aMethodOfNoInterfaceIsAMistakeUnderAnInterfaceProxy() {
        assertThat(check(Wider.class, false).mistakes()).singleElement().satisfies(mistake -> {
            assertThat(mistake.description())
                    .contains("Wider.more has @VirtualThread, but is not declared by an interface");
            assertThat(mistake.action()).contains("proxyTargetClass = true");
        });
        assertThat(mistakes(Wider.class)).isEmpty();
    }

    static class Wider implements Sender {
        @Override
        public void send() {}

        @VirtualThread
        public void more() {}
    }

    @Test
    void aPackagePrivateMethodOfAnotherPackageIsAMistake() {
        assertThat(mistakes(Stranger.class)).singleElement().satisfies(mistake -> assertThat(mistake.description())
                .contains("Stranger.hidden has @VirtualThread, but is package-private in a package other than"));
        assertThat(mistakes(Near.class)).isEmpty();
    }

    static class Stranger extends PackagePrivateBase {}

    static class Near {
        @VirtualThread
        void near() {}
    }

    @Test
    void aBeanMethodIsAMistake() {
        assertThat(mistakes(Config.class)).singleElement().satisfies(mistake -> assertThat(mistake.description())
                .contains("Config.sender is a @Bean method"));
    }

    static class Config {
        @Bean
        @VirtualThread
        Sender sender() {
            return () -> {};
        }
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
                            .startsWith("@VirtualThread on " + HERE + "Placeholder.send cannot be read")
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
                .contains("@VirtualThread on " + HERE + "Contradicting.send contradicts itself"));
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
                        tuple(HERE + "Limits.byDefault", "mail"),
                        tuple(HERE + "Limits.named", "report"),
                        tuple(HERE + "Limits.out", null));
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

    @Test
    void theExceptionListsAllMistakesInItsMessage() {
        List<Mistake> mistakes = mistakes(Unreachable.class);
        assertThat(new VirtualThreadConfigurationException(mistakes).mistakes()).isEqualTo(mistakes);
        assertThat(new VirtualThreadConfigurationException(mistakes))
                .hasMessageStartingWith("3 mistakes in the use of virtual threads:")
                .hasMessageContaining("Unreachable.fixed")
                .hasMessageContaining("Unreachable.shared")
                .hasMessageContaining("Make it a public or protected method");
    }

    private List<Mistake> mistakes(Class<?> type) {
        return check(type, true).mistakes();
    }

    private Checked check(Class<?> type, boolean classProxy) {
        return checks(new AnnotatedMethods(VirtualThread.class)).check(new Created(type, classProxy));
    }

    private MethodChecks checks(AnnotatedMethods methods) {
        StringValueResolver resolver = new DefaultListableBeanFactory()::resolveEmbeddedValue;
        return new MethodChecks(
                methods,
                new SettingsChecks(
                        new CallSettings(resolver, new MethodSettings(defaultLimit, null, Map.of())), () -> limits()),
                new ProxyChecks(methods));
    }

    private TaskLimits limits() {
        return new TaskLimits(
                limits.stream().map(name -> LimitSettings.of(name, 1)).toList(), new TaskTimer("timer"), change -> {});
    }
}
