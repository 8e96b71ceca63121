package io.github.virtualthread.bytecode;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.bytecode.SelfCalls.SelfCall;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.util.ClassUtils;

/** Each call that must be found is on a line marked with its class and method; what is on no such line must not be. */
@Timeout(300)
class SelfCallsTests {

    private static final Path SOURCE = Path.of("src/test/java/io/github/virtualthread/bytecode/SelfCallsTests.java");

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

    /** By the processor's time, which does not grow when the machine has other things to do. */
    @Test
    void tenClassesTakeAboutAMillisecond() {
        List<Class<?>> classes = List.of(
                Direct.class,
                Arguments.class,
                Derived.class,
                Quiet.class,
                Defaults.class,
                Lambdas.class,
                FirstOfTwo.class,
                OtherObjects.class,
                TextSender.class,
                CallingSuper.class);
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

    private static void assertOnlyMarkedCallsAreFound(Class<?> type) {
        assertOnlyMarkedCallsAreFound(type, type.getSimpleName());
    }

    private static void assertOnlyMarkedCallsAreFound(Class<?> type, String... callers) {
        List<String> marked = Arrays.stream(callers)
                .map(SelfCallsTests::marked)
                .flatMap(Collection::stream)
                .toList();
        assertThat(marked).isNotEmpty();
        assertThat(in(type)).extracting(call -> call.place().toString()).containsExactlyInAnyOrderElementsOf(marked);
    }

    /** The places that are marked with a method of the class. */
    private static List<String> marked(String type) {
        List<String> lines;
        try {
            lines = Files.readAllLines(SOURCE);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        String mark = "// " + type + ".";
        return IntStream.range(0, lines.size())
                .filter(i -> lines.get(i).contains(mark))
                .mapToObj(i -> new StackTraceElement(
                                SelfCallsTests.class.getName() + "$" + type,
                                lines.get(i).substring(lines.get(i).indexOf(mark) + mark.length()),
                                SOURCE.getFileName().toString(),
                                i + 1)
                        .toString())
                .toList();
    }

    private static Set<SelfCall> in(Class<?> type) {
        return in(new SelfCalls(), type);
    }

    static Set<SelfCall> in(SelfCalls calls, Class<?> type) {
        List<Class<?>> types = new ArrayList<>();
        for (Class<?> each = type; each != null && each != Object.class; each = each.getSuperclass()) {
            types.add(each);
        }
        ClassUtils.getAllInterfacesForClassAsSet(type).stream()
                .filter(each -> each != type)
                .forEach(types::add);
        return calls.find(types, annotated(types));
    }

    static List<Method> annotated(List<Class<?>> types) {
        return types.stream()
                .flatMap(type -> Arrays.stream(type.getDeclaredMethods()))
                .filter(method -> method.isAnnotationPresent(VirtualThread.class))
                .toList();
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
