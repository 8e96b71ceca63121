package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import java.util.Map;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.aot.AotServices;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.core.env.MapPropertySource;

/** What an application hands to the build of a native image. */
abstract class NativeHints {

    /** What is kept whatever the beans are. */
    static RuntimeHints always() {
        RuntimeHints hints = new RuntimeHints();
        ClassLoader classLoader = NativeHints.class.getClassLoader();
        AotServices.factories()
                .load(RuntimeHintsRegistrar.class)
                .forEach(registrar -> registrar.registerHints(hints, classLoader));
        return hints;
    }

    static RuntimeHints processed(Class<?> application) {
        return processed(application, Map.of());
    }

    static RuntimeHints processed(Class<?> application, Map<String, Object> properties) {
        TestGenerationContext generation = new TestGenerationContext();
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            context.getEnvironment()
                    .getPropertySources()
                    .addFirst(new MapPropertySource(
                            "endpoints", Map.of("management.endpoints.web.exposure.include", "virtualthreads")));
            context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("test", properties));
            context.register(application);
            new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
        }
        return generation.getRuntimeHints();
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    @Import({Mailer.class, ProductFactory.class, Plain.class})
    static class Auto {}

    interface Sending {

        @VirtualThread
        void send();
    }

    static class Sender {

        @VirtualThread
        void resend() {}
    }

    record Customer(Long id, Map<String, Address> addresses) {}

    static class Order {

        public Customer getCustomer() {
            return new Customer(1L, Map.of());
        }

        public long getNumber() {
            return 1;
        }
    }

    public static class Address {

        public String city = "Leipzig";
    }

    static class Mailer extends Sender implements Sending {

        @VirtualThread(limit = "mail", key = "#order")
        void order(Order order) {}

        @VirtualThread(limit = "mail", key = "#odrer.customer")
        void mistake(Order order) {}

        @VirtualThread(limit = "mail", key = "${no.such.key}")
        void placeholder(Order order) {}

        @Override
        public void send() {}
    }

    static class Plain {

        void nothing() {}
    }

    interface Product {

        @Limited("none")
        void make();
    }

    static class ProductFactory implements FactoryBean<Product> {

        @Override
        public Product getObject() {
            return () -> {};
        }

        @Override
        public Class<?> getObjectType() {
            return Product.class;
        }
    }
}
