package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.reflection;

import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.config.EnableVirtual;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.assertj.core.api.ThrowingConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.aot.hint.ExecutableHint;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.TypeHint;
import org.springframework.aot.hint.TypeReference;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.type.AnnotationMetadata;

/** What a native image is told to keep of annotated methods and their keys. No image is built here. */
@Timeout(300)
class AnnotatedMethodHintsTests extends NativeHints {

    @Test
    void theAttributesOfBothAnnotationsAreKept() {
        assertThat(always()).satisfies(methodsAreKept(VirtualThread.class), methodsAreKept(Limited.class));
    }

    @Test
    void annotatedMethodsAreKeptWhereverTheyAreDeclared() {
        assertThat(processed(Auto.class))
                .satisfies(
                        methodsAreKept(Mailer.class),
                        methodsAreKept(Sender.class),
                        methodsAreKept(Sending.class),
                        methodsAreKept(Product.class))
                .satisfies(hints -> assertThat(methods(Plain.class)).rejects(hints));
    }

    @Test
    void soAreTheInterfacesOfSpringByWhichMethodsAreCalledOrLeftOut() {
        assertThat(processed(Listening.class))
                .satisfies(
                        methodsAreKept(Listener.class),
                        methodsAreKept(ApplicationListener.class),
                        methodsAreKept(InitializingBean.class));
    }

    @Test
    void anInnerBeanIsLookedAtLikeAnyOther() {
        assertThat(processed(WithInnerBean.class)).satisfies(methodsAreKept(Mailer.class));
    }

    @Test
    void anAnnotationOfTheApplicationIsKeptLikeOurs() {
        assertThat(processed(WithOwnAnnotation.class))
                .satisfies(methodsAreKept(InBackground.class), methodsAreKept(Printer.class));
    }

    @Test
    void whatAKeyReadsAlongItsPathsIsKept() throws Exception {
        RuntimeHints hints = processed(Keyed.class);

        assertThat(reflection().onMethod(Order.class.getMethod("getCustomer")).invoke())
                .accepts(hints);
        assertThat(reflection().onMethod(Customer.class.getMethod("id")).invoke())
                .accepts(hints);
        assertThat(reflection().onField(Address.class.getField("city"))).accepts(hints);
        assertThat(reflection().onMethod(String.class.getMethod("toLowerCase")).invoke())
                .accepts(hints);
        assertThat(reflection()
                        .onType(TypeReference.of("io.github.virtualthread.aop.KeyExpression$Root"))
                        .withMemberCategory(MemberCategory.INVOKE_DECLARED_METHODS))
                .accepts(hints);
        assertThat(reflection().onMethod(Order.class.getMethod("getNumber")).invoke())
                .rejects(hints);
    }

    @Test
    void whatAKeyReadsOfTheRootByItsNameAloneIsKept() {
        assertThat(methodsOfRoot(ByMethodName.class)).containsExactly("methodName");
        assertThat(methodsOfRoot(ByArguments.class)).containsExactly("args");
    }

    private static List<String> methodsOfRoot(Class<?> keyed) {
        return processed(keyed)
                .reflection()
                .typeHints()
                .filter(hint -> hint.getType().getName().equals("io.github.virtualthread.aop.KeyExpression$Root"))
                .flatMap(TypeHint::methods)
                .map(ExecutableHint::getName)
                .toList();
    }

    @Test
    void aKeyThatIsAParameterOrAMistakeNeedsNothing() {
        RuntimeHints hints = processed(Auto.class);

        assertThat(hints.reflection().typeHints().map(hint -> hint.getType().getName()))
                .doesNotContain(Order.class.getName(), "io.github.virtualthread.aop.KeyExpression$Root");
    }

    @Test
    void proxiesAreThereAlsoWhereTheMethodsAreNotAdvisedWhileItIsBuilt() {
        RuntimeHints hints = processed(Auto.class, Map.of("virtual-thread.enabled", "false"));

        assertThat(hints.reflection().typeHints().map(hint -> hint.getType().getName()))
                .anyMatch(name -> name.startsWith(Mailer.class.getName() + "$$SpringCGLIB$$"));
    }

    private static ThrowingConsumer<RuntimeHints> methodsAreKept(Class<?> type) {
        return hints -> assertThat(methods(type)).as(type.getName()).accepts(hints);
    }

    private static Predicate<RuntimeHints> methods(Class<?> type) {
        return reflection().onType(type).withMemberCategory(MemberCategory.INVOKE_DECLARED_METHODS);
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    @Import(Listener.class)
    static class Listening {}

    @VirtualThread
    static class Listener implements ApplicationListener<ApplicationEvent>, InitializingBean {

        @Override
        public void onApplicationEvent(ApplicationEvent event) {}

        @Override
        public void afterPropertiesSet() {}
    }

    @Configuration(proxyBeanMethods = false)
    @EnableVirtual(annotation = InBackground.class)
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    @Import(Printer.class)
    static class WithOwnAnnotation {}

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    @Import(Outer.class)
    static class WithInnerBean {}

    static class Outer implements ImportBeanDefinitionRegistrar {

        @Override
        public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
            RootBeanDefinition holder = new RootBeanDefinition(Holder.class);
            holder.getPropertyValues().add("held", new RootBeanDefinition(Mailer.class));
            registry.registerBeanDefinition("holder", holder);
        }
    }

    static class Holder {

        public void setHeld(Object held) {}
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface InBackground {

        String limit() default "";
    }

    static class Printer {

        @InBackground
        void print() {}
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    @Import(Orders.class)
    static class Keyed {}

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    static class ByMethodName {

        @VirtualThread(limit = "mail", key = "methodName")
        void send() {}
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    static class ByArguments {

        @VirtualThread(limit = "mail", key = "args[0].toString()")
        void send(Order order) {}
    }

    static class Orders {

        @VirtualThread(limit = "mail", key = "#order?.customer.id ?: #root.methodName")
        void send(Order order) {}

        @VirtualThread(limit = "mail", key = "#p0[0].customer.addresses['home'].city.toLowerCase()")
        void sendAll(List<Order> orders) {}
    }
}
