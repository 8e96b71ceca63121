package io.github.virtualthread.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.aop.Findings.AdvisedMethod;
import io.github.virtualthread.aop.other.PackagePrivateBase;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;

/** Annotated methods that no proxy reaches. */
class UnreachableMethodsTests extends CheckedMethods {

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
                .containsExactly(tuple(here + "LeftOut.run", "report"));
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
                        here + "FinalClass has methods with @VirtualThread, but cannot be proxied, because it is final",
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
    void theExceptionListsAllMistakesInItsMessage() {
        List<Mistake> mistakes = mistakes(Unreachable.class);
        assertThat(new VirtualThreadConfigurationException(mistakes).mistakes()).isEqualTo(mistakes);
        assertThat(new VirtualThreadConfigurationException(mistakes))
                .hasMessageStartingWith("3 mistakes in the use of virtual threads:")
                .hasMessageContaining("Unreachable.fixed")
                .hasMessageContaining("Unreachable.shared")
                .hasMessageContaining("Make it a public or protected method");
    }
}
