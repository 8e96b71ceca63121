package io.github.virtualthread.bytecode;

import static io.github.virtualthread.bytecode.FoundSelfCalls.assertOnlyMarkedCallsAreFound;
import static io.github.virtualthread.bytecode.FoundSelfCalls.in;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls of methods that a class inherits or overrides, marked as in {@link SelfCallsTests}. */
@Timeout(300)
class InheritedSelfCallsTests {

    @Test
    void callsInSuperclassesAreFound() {
        assertOnlyMarkedCallsAreFound(Derived.class, "Base", "Derived");
    }

    @Test
    void aCallInASuperclassIsFoundOnceForAllItsSubclasses() {
        assertThat(in(FirstOfTwo.class)).isNotEmpty().isEqualTo(in(SecondOfTwo.class));
    }

    @Test
    void overriddenMethodsCountWhereTheyAreCalledThroughSuper() {
        assertThat(in(Overriding.class)).isEmpty();
        assertOnlyMarkedCallsAreFound(CallingSuper.class, "Template");
    }

    @Test
    void aMethodThatAnotherOverridesWithANarrowerTypeIsTheSame() {
        assertOnlyMarkedCallsAreFound(TextSender.class, "Sender", "TextSender");
    }

    @Test
    void aPrivateMethodOfTheSameNameIsAnother() {
        assertThat(in(SameName.class)).isEmpty();
    }

    @Test
    void defaultMethodsOfInterfacesAreFound() {
        assertOnlyMarkedCallsAreFound(Defaults.class, "WithDefaults");
        assertThat(in(DefaultsOverridden.class)).isEmpty();
    }

    static class Base {

        @VirtualThread
        public void send() {}

        public void receive() {}

        public void all() {
            send(); // Base.all
            receive(); // Base.all
        }
    }

    static class Derived extends Base {

        @Override
        public void send() {
            super.send();
            Runnable again = super::send;
            again.run();
            Runnable inLambda = () -> super.send();
            inLambda.run();
        }

        @Override
        @VirtualThread
        public void receive() {
            super.receive();
            all();
        }

        void inherited() {
            send(); // Derived.inherited
        }
    }

    static class FirstOfTwo extends Base {}

    static class SecondOfTwo extends Base {}

    static class Template {

        @VirtualThread
        public void send() {}

        public void all() {
            Runnable each = () -> send(); // Template.all
            each.run();
        }
    }

    static class Overriding extends Template {

        @Override
        public void all() {}
    }

    static class CallingSuper extends Template {

        @Override
        public void all() {
            super.all();
        }
    }

    abstract static class Sender<T> {

        public abstract void send(T value);

        void all(List<T> values) {
            send(values.get(0)); // Sender.all
        }
    }

    static class TextSender extends Sender<String> {

        @Override
        @VirtualThread
        public void send(String value) {}

        void twice() {
            send("a"); // TextSender.twice
        }

        Consumer<String> reference() {
            Sender<String> other = this;
            return other::send;
        }
    }

    static class WithPrivate {

        private void send() {}

        public void all() {
            send();
            Runnable reference = this::send;
            reference.run();
        }
    }

    static class SameName extends WithPrivate {

        @VirtualThread
        public void send() {}
    }

    interface WithDefaults {

        @VirtualThread
        void send();

        default void all() {
            send(); // WithDefaults.all
            Runnable reference = this::send; // WithDefaults.all
            Runnable lambda = () -> send(); // WithDefaults.all
            reference.run();
            lambda.run();
        }
    }

    static class Defaults implements WithDefaults {

        @Override
        public void send() {}
    }

    static class DefaultsOverridden implements WithDefaults {

        @Override
        public void send() {}

        @Override
        public void all() {}
    }
}
