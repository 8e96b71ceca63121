package io.github.virtualthread.aop;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.AliasFor;

/** Which annotation a method has, and by which name it is known. */
class AnnotatedMethodsTests extends FoundMethods {

    @Test
    void aMethodsAnnotationBeatsThatOfItsClass() {
        assertThat(limit(OnBoth.class, "own")).isEqualTo("method");
        assertThat(limit(OnBoth.class, "other")).isEqualTo("class");
    }

    @Test
    void attributesOfMethodAndClassAreNotMerged() {
        assertThat(declaration(OnBoth.class, "bare").limit()).isEmpty();
        assertThat(declaration(OnBoth.class, "bare").name()).isEmpty();
    }

    @VirtualThread(limit = "class", name = "named")
    static class OnBoth {
        @VirtualThread("method")
        public void own() {}

        public void other() {}

        @VirtualThread
        public void bare() {}
    }

    @Test
    void aMethodOfAnInterfaceAnnotatesItsImplementation() throws NoSuchMethodException {
        assertThat(limit(Plain.class, "send")).isEqualTo("interface");
        Method declared = Sender.class.getMethod("send");
        assertThat(methods.find(declared, Plain.class)).isSameAs(find(Plain.class, "send"));
    }

    @Test
    void theImplementingMethodsAnnotationBeatsThatOfTheInterface() {
        assertThat(limit(Own.class, "send")).isEqualTo("own");
    }

    interface Sender {
        @VirtualThread("interface")
        void send();
    }

    static class Plain implements Sender {
        @Override
        public void send() {}
    }

    static class Own implements Sender {
        @Override
        @VirtualThread("own")
        public void send() {}
    }

    @Test
    void aMethodOfAnInterfaceAnnotatesWhatASuperclassHappensToImplement() {
        assertThat(limit(ByInheritance.class, "send")).isEqualTo("interface");
    }

    static class Unaware {
        public void send() {}
    }

    static class ByInheritance extends Unaware implements Sender {}

    @Test
    void theSubInterfaceWinsOverItsParent() {
        assertThat(limit(Deep.class, "send")).isEqualTo("nearer");
    }

    interface NearerSender extends Sender {
        @Override
        @VirtualThread("nearer")
        void send();
    }

    static class Deep implements Sender, NearerSender {
        @Override
        public void send() {}
    }

    @Test
    void anInterfaceCoversWhatItDeclaresAndNothingElse() {
        assertThat(names(Implementation.class)).containsExactly("byDefault", "declared");
    }

    @VirtualThread
    interface Contract {
        void declared();

        default void byDefault() {}
    }

    static class Implementation implements Contract {
        @Override
        public void declared() {}

        public void more() {}
    }

    @Test
    void genericInterfacesAreSeenThrough() {
        for (Method method : handlers(Handling.class)) {
            AnnotatedMethod found = methods.find(method, Handling.class);
            assertThat(found).as(method.toString()).isNotNull();
            assertThat(found.method().getParameterTypes()).containsExactly(String.class);
        }
        Method declared = handlers(Handler.class)[0];
        assertThat(methods.find(declared, Handling.class)).isSameAs(find(Handling.class, "handle"));
        assertThat(methods.in(Handling.class)).hasSize(1);
    }

    private static Method[] handlers(Class<?> type) {
        return Arrays.stream(type.getDeclaredMethods())
                .filter(method -> method.getName().equals("handle"))
                .toArray(Method[]::new);
    }

    interface Handler<T> {
        @VirtualThread
        Future<Void> handle(T value);
    }

    static class Handling implements Handler<String> {
        @Override
        public CompletableFuture<Void> handle(String value) {
            return CompletableFuture.completedFuture(null);
        }
    }

    @Test
    void bridgesThatTheCompilerAddsForVisibilityAreNotDeclaredThere() {
        assertThat(names(PublicFace.class)).isEmpty();
    }

    abstract static class HiddenBase {
        public void run() {}
    }

    @VirtualThread
    public static class PublicFace extends HiddenBase {}

    @Test
    void metaAnnotationsCountWithTheirAttributes() {
        assertThat(limit(Composed.class, "fixed")).isEqualTo("db");
        assertThat(limit(Composed.class, "given")).isEqualTo("mail");
    }

    @Retention(RetentionPolicy.RUNTIME)
    @VirtualThread("db")
    @interface Db {}

    @Retention(RetentionPolicy.RUNTIME)
    @VirtualThread
    @interface Background {
        @AliasFor(annotation = VirtualThread.class, attribute = "limit")
        String on();
    }

    static class Composed {
        @Db
        void fixed() {}

        @Background(on = "mail")
        void given() {}
    }

    @Test
    void anAnnotationOfTheUsersIsReadByItsAttributes() {
        AnnotatedMethods own = new AnnotatedMethods(Offload.class);
        AnnotatedMethod found = own.in(Offloading.class).get(0);
        assertThat(found.declaration())
                .isEqualTo(new Declaration(Offload.class, "mail", "sender", "2s", "5h", "#to", null));
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface Offload {
        String value();

        String name();

        String timeout();

        String deadline();

        String key();
    }

    static class Offloading {
        @Offload(value = "mail", name = "sender", timeout = "2s", deadline = "5h", key = "#to")
        void send(String to) {}

        @VirtualThread
        void ignored() {}
    }

    @Test
    void aMarkerWithoutStringsIsEnough() {
        AnnotatedMethods own = new AnnotatedMethods(Marker.class);
        assertThat(own.in(Marked.class).get(0).declaration())
                .isEqualTo(new Declaration(Marker.class, "", "", "", "", "", null));
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface Marker {
        int limit() default 3;
    }

    static class Marked {
        @Marker
        void send() {}
    }

    @Test
    void anInterfaceBehindAGeneratedClassGivesTheNames() {
        Object proxy = Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Sender.class}, (self, method, args) -> null);
        AnnotatedMethod found = methods.in(proxy.getClass()).get(0);
        assertThat(found.qualifiedName()).isEqualTo(Sender.class.getName() + ".send");
        assertThat(found.defaultName()).isEqualTo("Sender.send");
    }

    @Test
    void aGeneratedSubclassIsSeenAsTheClassOfTheUser() {
        try (var context = new AnnotationConfigApplicationContext(Enhanced.class)) {
            Class<?> enhanced = context.getBean(Enhanced.class).getClass();
            assertThat(enhanced).isNotSameAs(Enhanced.class);
            assertThat(methods.in(enhanced))
                    .extracting(AnnotatedMethod::defaultName)
                    .containsExactly("Enhanced.run");
        }
    }

    @Configuration
    static class Enhanced {
        @Bean
        Object any() {
            return new Object();
        }

        @VirtualThread
        void run() {}
    }

    @Test
    void theNameIsThatOfTheBeansClassAlsoForAnInheritedMethod() {
        assertThat(find(Sub.class, "inherited").defaultName()).isEqualTo("Sub.inherited");
    }

    @Test
    void methodsOfOtherClassesAreNotFound() throws NoSuchMethodException {
        assertThat(methods.find(Plain.class.getMethod("send"), String.class)).isNull();
        assertThat(methods.in(String.class)).isEmpty();
    }
}
