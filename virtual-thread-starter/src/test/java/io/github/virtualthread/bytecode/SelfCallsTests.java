package io.github.virtualthread.bytecode;

import static io.github.virtualthread.bytecode.FoundSelfCalls.assertOnlyMarkedCallsAreFound;
import static io.github.virtualthread.bytecode.FoundSelfCalls.in;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.ObjectProvider;

/** Calls in a class of its own methods. Each call that must be found is on a line marked with its class and method; what is on no such line must not be. */
@Timeout(300)
class SelfCallsTests {

    @Test
    void callsOfTheSameObjectAreFound() {
        assertOnlyMarkedCallsAreFound(Direct.class);
    }

    @Test
    void callsInLambdasBelongToTheMethodAroundThem() {
        assertOnlyMarkedCallsAreFound(Lambdas.class);
    }

    @Test
    void argumentsDoNotHideTheObject() {
        assertOnlyMarkedCallsAreFound(Arguments.class);
    }

    @Test
    void callsOfOtherObjectsAreNotFound() {
        assertThat(in(OtherObjects.class)).isEmpty();
    }

    @Test
    void whatMayBeAnotherObjectIsNotFound() {
        assertThat(in(Undecided.class)).isEmpty();
    }

    /** By the processor's time, which does not grow when the machine has other things to do. */
    @Test
    void tenClassesTakeAboutAMillisecond() {
        List<Class<?>> classes = List.of(
                Direct.class,
                Arguments.class,
                InheritedSelfCallsTests.Derived.class,
                Quiet.class,
                InheritedSelfCallsTests.Defaults.class,
                Lambdas.class,
                InheritedSelfCallsTests.FirstOfTwo.class,
                OtherObjects.class,
                InheritedSelfCallsTests.TextSender.class,
                InheritedSelfCallsTests.CallingSuper.class);
        ThreadMXBean processor = ManagementFactory.getThreadMXBean();
        List<Duration> rounds = new ArrayList<>();

        for (int i = 0; i < 100; i++) {
            long start = processor.getCurrentThreadCpuTime();
            SelfCalls calls = new SelfCalls();
            classes.forEach(type -> in(calls, type));
            rounds.add(Duration.ofNanos(processor.getCurrentThreadCpuTime() - start));
        }

        rounds.sort(Comparator.naturalOrder());
        System.out.printf(
                "Ten classes: %s at best, median %s, %s at worst%n", rounds.get(0), rounds.get(50), rounds.get(99));
        assertThat(rounds.get(0)).isLessThan(Duration.ofMillis(10));
    }

    static class Direct {

        Direct() {
            send(); // Direct.<init>
        }

        @VirtualThread
        public void send() {
            other(); // Direct.send
        }

        @VirtualThread
        protected void other() {}

        void unqualified() {
            send(); // Direct.unqualified
        }

        void qualified() {
            this.send(); // Direct.qualified
            ((Direct) this).other(); // Direct.qualified
        }

        void helped() {
            helper();
        }

        private void helper() {
            send(); // Direct.helper
        }

        void inBlocks(List<String> all) {
            for (String each : all) {
                if (each.isEmpty()) {
                    continue;
                }
                try {
                    send(); // Direct.inBlocks
                } catch (IllegalStateException failure) {
                    send(); // Direct.inBlocks
                    throw failure;
                } finally {
                    other(); // Direct.inBlocks
                }
            }
            synchronized (this) {
                while (!all.isEmpty()) {
                    send(); // Direct.inBlocks
                }
            }
            switch (all.size()) {
                case 0 -> send(); // Direct.inBlocks
                case 7 -> other(); // Direct.inBlocks
                default -> {}
            }
            other(); // Direct.inBlocks
        }
    }

    static class Quiet {

        @VirtualThread
        public void send() {}

        void all(List<Quiet> others) {
            others.forEach(System.out::println);
        }
    }

    static class Lambdas {

        @VirtualThread
        public void send(String text) {}

        Runnable lambda() {
            return () -> send("a"); // Lambdas.lambda
        }

        Supplier<Runnable> nested(String text) {
            return () -> {
                String longer = text + this;
                return () -> {
                    send(longer); // Lambdas.nested
                };
            };
        }

        Callable<Object> twice(List<String> all) {
            Runnable first = () -> all.forEach(each -> send(each)); // Lambdas.twice
            return () -> {
                first.run();
                send("b"); // Lambdas.twice
                return this;
            };
        }

        Consumer<String> reference() {
            return this::send; // Lambdas.reference
        }

        void referenceAsArgument(List<String> all) {
            all.forEach(this::send); // Lambdas.referenceAsArgument
        }

        Consumer<Lambdas> ofAnother() {
            return other -> other.send("c");
        }

        Consumer<String> referenceOfAnother(Lambdas other) {
            return other::send;
        }
    }

    static class Arguments {

        private long count;
        private int index;
        private Long boxed = 1L;
        private double[] values = new double[3];
        private long[][] table = new long[2][2];

        @VirtualThread
        public void send(Object... all) {}

        @VirtualThread
        public void send(long first, double second, float third, int fourth) {}

        String text(long value) {
            return "" + value;
        }

        void branches(boolean yes, String text) {
            send(yes ? text : "b"); // Arguments.branches
            send( // Arguments.branches
                    yes && text.isEmpty() || !yes, text == null ? null : text.length() > 3 ? "long" : 'c');
            send( // Arguments.branches
                    switch (index) {
                        case 0 -> "none";
                        case 1 -> 1L;
                        default -> throw new IllegalStateException();
                    });
            send(text instanceof String one && one.isEmpty(), this instanceof Arguments); // Arguments.branches
        }

        void numbers(int whole, long wide, float third, double second) {
            send(wide, second, third, whole); // Arguments.numbers
            send(count += 2L, values[index++] += 1.5, third++, ++whole); // Arguments.numbers
            send( // Arguments.numbers
                    wide++ * 3 - (long) second << 2, -second % 2 / whole, (float) wide, (int) second ^ ~whole);
            send( // Arguments.numbers
                    table[1][index--] ^= wide >>> 3,
                    values[0]--,
                    third > 2 ? 1F : 2,
                    wide < count ? (byte) 1 : (short) 2);
            send(boxed++, this.count--, (char) whole, values.length, (double) third); // Arguments.numbers
            send(count = wide = 5L, second = values[1] = 3, third = 2F, index = whole = 4); // Arguments.numbers
            send( // Arguments.numbers
                    table[0][0]++ + (table[1][1] = wide), (double) (count = 3), 0F, second >= 1 ? 1 : 0);
        }

        void objects(String text, Object other) {
            send(new Object[] {text, new int[][] {{1}, {2, 3}}, new long[2][3], this}); // Arguments.objects
            send( // Arguments.objects
                    new StringBuilder(text).append(1L).append(2D).toString(), text + index + count + values[0]);
            send( // Arguments.objects
                    (String) other, (Runnable) () -> {}, String.class, Math.max(count, 1L), System.nanoTime());
            send( // Arguments.objects
                    text(text(count).length()), this.text(index).concat(text), Objects.requireNonNullElse(other, this));
        }

        private static final class Objects {

            static Object requireNonNullElse(Object one, Object other) {
                return one == null ? other : one;
            }
        }
    }

    static class OtherObjects implements InitializingBean {

        private final OtherObjects self;
        private final ObjectProvider<OtherObjects> provider;

        OtherObjects(OtherObjects self, ObjectProvider<OtherObjects> provider) {
            this.self = self;
            this.provider = provider;
        }

        @VirtualThread
        public void send(long number) {}

        @VirtualThread
        public void send(OtherObjects other) {}

        public void send() {}

        OtherObjects self() {
            return self;
        }

        void calls(OtherObjects parameter, OtherObjects[] several, boolean yes) {
            self.send(1);
            this.self.send(this);
            self().send(2);
            provider.getObject().send(yes ? 1 : 2);
            parameter.send(this);
            OtherObjects variable = self();
            variable.send(this);
            several[0].send(this);
            (several[1] = parameter).send(3);
            new OtherObjects(this, provider).send(this);
            Consumer<OtherObjects> reference = self::send;
            reference.accept(this);
            Runnable lambda = () -> self.send(4);
            lambda.run();
            send();
            new Runnable() {
                @Override
                public void run() {
                    send(5);
                }

                void send(long number) {}
            }.run();
        }

        static void ofAParameter(OtherObjects first) {
            first.send(6);
        }

        @Override
        public void afterPropertiesSet() {
            self.send(7);
        }
    }

    static class Undecided {

        private Undecided self;

        @VirtualThread
        public void send() {}

        void calls(boolean yes) {
            (yes ? self : this).send();
            (yes ? this : self).send();
            (self == null ? this : self).send();
            Undecided variable = this;
            variable.send();
        }
    }
}
