package io.github.virtualthread.aop;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.mistake.Mistake;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.dynamic.loading.ClassLoadingStrategy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is found in byte code is tested with {@code SelfCalls}; here is what becomes of it. */
@Timeout(300)
class SelfInvocationsTests {

    @Test
    void theMessageNamesCallerLineCalleeAndTheWaysOut() {
        assertThat(in(Direct.class))
                .first()
                .satisfies(mistake -> assertThat(mistake.description())
                        .startsWith(Direct.class.getName() + ".twice(SelfInvocationsTests.java:")
                        .contains(") calls " + Direct.class.getName() + ".send on its own object")
                        .contains("the call bypasses the proxy, which applies @VirtualThread"))
                .satisfies(mistake -> assertThat(mistake.action())
                        .contains("Move send to another bean")
                        .contains("inject ObjectProvider<Direct> and call getObject().send(..)")
                        .contains("call a method without @VirtualThread"));
    }

    @Test
    void anInterfaceProxyIsAskedForByItsInterface() {
        List<AnnotatedMethod> advised = advised(Caller.class);

        assertThat(selfInvocations().in(Caller.class, true, advised))
                .singleElement()
                .satisfies(call -> assertThat(call.action()).contains("ObjectProvider<Caller>"));
        assertThat(selfInvocations().in(Caller.class, false, advised))
                .singleElement()
                .satisfies(call -> assertThat(call.action()).contains("ObjectProvider<WithDefaults>"));
    }

    @Test
    void onlyAdvisedMethodsCount() {
        try (TestContext context = TestContext.of(Broken.class)) {
            Findings findings = context.check();

            assertThat(findings.mistakes()).isNotEmpty();
            assertThat(findings.selfInvocations()).singleElement().satisfies(call -> assertThat(call.description())
                    .contains("calls " + Broken.class.getName() + ".right"));
        }
    }

    @Test
    void nothingIsFoundWhereNothingIsAdvised() {
        assertThat(findings(Map.of("virtual-thread.enabled", "false"), Direct.class))
                .isEmpty();
        assertThat(findings(Map.of(), Direct.class)).isNotEmpty();
    }

    @Test
    void twoBeansOfAClassGiveOneReport() {
        try (TestContext context = TestContext.with(each -> {
            each.registerBean("one", Direct.class);
            each.registerBean("two", Direct.class);
        })) {
            assertThat(context.check().selfInvocations()).hasSize(2);
        }
    }

    @Test
    void aClassWithoutAClassFileIsSkippedInSilence() {
        Class<?> generated = new ByteBuddy()
                .subclass(Direct.class)
                .name(Direct.class.getName() + "Generated")
                .make()
                .load(Direct.class.getClassLoader(), ClassLoadingStrategy.UsingLookup.of(MethodHandles.lookup()))
                .getLoaded();

        try (Logs logs = new Logs()) {
            assertThat(in(generated)).isEqualTo(in(Direct.class));
            assertThat(logs.messages(Level.INFO)).isEmpty();
        }
    }

    @Test
    void aClassFileThatCannotBeReadIsSkippedInSilence() throws Exception {
        Class<?> unreadable = new Unreadable(() -> new ByteArrayInputStream(new byte[] {1, 2, 3, 4}))
                .loadClass(Direct.class.getName());

        try (Logs logs = new Logs()) {
            assertThat(in(unreadable)).isEmpty();
            assertThat(logs.messages(Level.INFO)).isEmpty();
        }
    }

    @Test
    void aPlatformThatRefusesToGiveAClassFileIsTakenForOneWithoutClassFiles() throws Exception {
        Class<?> refused = new Unreadable(() -> {
                    throw new LinkageError("not in this image");
                })
                .loadClass(Direct.class.getName());

        try (Logs logs = new Logs()) {
            assertThat(in(refused)).isEmpty();
            assertThat(logs.messages(Level.INFO)).isEmpty();
        }
    }

    @Test
    void aCallInASuperclassIsFoundOnceForAllItsSubclasses() {
        assertThat(in(FirstOfTwo.class)).hasSize(2).isEqualTo(in(SecondOfTwo.class));
    }

    @Test
    void aMethodThatAnotherOverridesWithANarrowerTypeIsTheSame() {
        assertThat(in(TextSender.class))
                .extracting(Mistake::description)
                .satisfiesExactly(
                        own -> assertThat(own).contains("TextSender.twice("),
                        inherited -> assertThat(inherited).contains("Sender.all("));
    }

    /** All contexts of a JVM check the same classes. */
    @Test
    void aClassThatCallsNoneOfTheMethodsIsReadOnce() throws Exception {
        Counted counted = new Counted(Quiet.class);
        Class<?> quiet = counted.loadClass(Quiet.class.getName());

        assertThat(selfInvocations().in(quiet, true, advised(quiet, "send"))).isEmpty();
        assertThat(selfInvocations().in(quiet, true, advised(quiet, "send"))).isEmpty();
        assertThat(counted.reads).isEqualTo(1);
    }

    @Test
    void aClassIsReadAgainForOtherMethods() throws Exception {
        Counted counted = new Counted(Quiet.class);
        Class<?> quiet = counted.loadClass(Quiet.class.getName());

        assertThat(selfInvocations().in(quiet, true, advised(quiet, "send"))).isEmpty();
        for (int context = 0; context < 2; context++) {
            assertThat(selfInvocations().in(quiet, true, advised(quiet, "send", "call")))
                    .singleElement()
                    .satisfies(call -> assertThat(call.description()).contains(".call on its own object"));
            assertThat(selfInvocations().in(quiet, true, advised(quiet, "call")))
                    .hasSize(1);
            assertThat(selfInvocations().in(quiet, true, advised(quiet, "send")))
                    .isEmpty();
        }
        assertThat(counted.reads).isEqualTo(5);
    }

    private static List<AnnotatedMethod> advised(Class<?> type, String... methods) {
        return advised(type).stream()
                .filter(each -> List.of(methods).contains(each.method().getName()))
                .toList();
    }

    private static Collection<Mistake> in(Class<?> type) {
        return selfInvocations().in(type, true, advised(type));
    }

    private static SelfInvocations selfInvocations() {
        return new SelfInvocations();
    }

    private static List<AnnotatedMethod> advised(Class<?> type) {
        return new AnnotatedMethods(VirtualThread.class).in(type);
    }

    private static List<Mistake> findings(Map<String, Object> properties, Class<?> type) {
        try (TestContext context = TestContext.with(properties, null, each -> each.register(type))) {
            return context.check().selfInvocations();
        }
    }

    static class Direct {

        @VirtualThread
        public void send() {}

        void twice() {
            send();
            this.send();
        }
    }

    static class FirstOfTwo extends Direct {}

    static class SecondOfTwo extends Direct {}

    abstract static class Sender<T> {

        public abstract void send(T value);

        void all(List<T> values) {
            send(values.get(0));
        }
    }

    static class TextSender extends Sender<String> {

        @Override
        @VirtualThread
        public void send(String value) {}

        void twice() {
            send("a");
        }

        Consumer<String> reference() {
            Sender<String> other = this;
            return other::send;
        }
    }

    interface WithDefaults {

        @VirtualThread
        void send();

        default void all() {
            send();
            Runnable reference = this::send;
            Runnable lambda = () -> send();
            reference.run();
            lambda.run();
        }
    }

    static class Caller implements WithDefaults {

        @Override
        public void send() {}

        @Override
        public void all() {
            send();
        }
    }

    static class Broken {

        @VirtualThread
        public String wrong() {
            return "";
        }

        @VirtualThread
        public void right() {
            if (!wrong().isEmpty()) {
                right();
            }
        }
    }

    /** Has a class of its own, which no other test has checked. */
    private abstract static class OwnClass extends ClassLoader {

        private final String own;

        OwnClass(Class<?> own) {
            super(SelfInvocationsTests.class.getClassLoader());
            this.own = own.getName();
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals(own)) {
                return super.loadClass(name, resolve);
            }
            Class<?> known = findLoadedClass(name);
            return known == null ? define(name) : known;
        }

        private Class<?> define(String name) {
            try (var file = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] bytes = file.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
        }
    }

    /** Gives each class another class file than its own. */
    private static final class Unreadable extends OwnClass {

        private final Supplier<InputStream> file;

        Unreadable(Supplier<InputStream> file) {
            super(Direct.class);
            this.file = file;
        }

        @Override
        public InputStream getResourceAsStream(String name) {
            return file.get();
        }
    }

    /** Counts how often a class file is read. */
    private static final class Counted extends OwnClass {

        private int reads;

        Counted(Class<?> own) {
            super(own);
        }

        @Override
        public InputStream getResourceAsStream(String name) {
            reads++;
            return super.getResourceAsStream(name);
        }
    }
}
