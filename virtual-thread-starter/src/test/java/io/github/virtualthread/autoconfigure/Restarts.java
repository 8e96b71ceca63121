package io.github.virtualthread.autoconfigure;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import javax.management.ObjectName;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.jmx.JmxEndpointAutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.jmx.JmxAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.DefaultResourceLoader;

/**
 * A program of its own, for {@link RestartTests}: starts and closes an application again and again, each time with an annotated
 * class of a loader of its own, as development tools and servers do. Only the registry of meters outlives them.
 */
final class Restarts {

    private static final MeterRegistry REGISTRY = new SimpleMeterRegistry();

    private Restarts() {}

    public static void main(String[] arguments) throws Exception {
        int number = Integer.parseInt(arguments[0]);
        startWithoutUs();
        List<String> beans = beans();
        List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            loaders.add(new WeakReference<>(startAndClose(i % 20 == 0)));
        }
        System.out.printf("%d contexts%n", number);
        System.out.printf("threads left: %s%n", settled(Restarts::threads));
        System.out.printf("class loaders left: %s%n", settled(() -> left(loaders)));
        System.out.printf(
                "meters left: %s%n",
                REGISTRY.getMeters().stream().map(Meter::getId).toList());
        List<String> beansLeft = beans();
        beansLeft.removeAll(beans);
        System.out.printf("MBeans left: %s%n", beansLeft);
    }

    /** Spring Boot itself keeps the class loader of the first application in a JVM. */
    private static void startWithoutUs() {
        new SpringApplicationBuilder(Empty.class)
                .web(WebApplicationType.NONE)
                .properties("logging.level.root=warn", "spring.main.banner-mode=off")
                .run()
                .close();
    }

    private static ClassLoader startAndClose(boolean watchingPins) throws Exception {
        ClassLoader loader = new OwnShop();
        Thread.currentThread().setContextClassLoader(loader);
        try (ConfigurableApplicationContext context = new SpringApplicationBuilder()
                .resourceLoader(new DefaultResourceLoader(loader))
                .sources(Application.class, loader.loadClass(RestartedShop.class.getName()))
                .web(WebApplicationType.NONE)
                .registerShutdownHook(false)
                .initializers(made -> made.getBeanFactory().registerSingleton("registry", REGISTRY))
                .properties(
                        "logging.level.root=warn",
                        "spring.jmx.enabled=true",
                        "spring.main.banner-mode=off",
                        "management.endpoints.jmx.exposure.include=*",
                        "management.endpoint.virtualthreads.access=unrestricted",
                        "virtual-thread.limits.db.permits=1",
                        "virtual-thread.limits.db.max-wait=1ms",
                        "virtual-thread.stuck-after=1m",
                        "virtual-thread.pinning.enabled=" + watchingPins,
                        "virtual-thread.shutdown.await-termination-period=0s")
                .run()) {
            check(REGISTRY.find("virtual.thread.limit.permits").gauge() != null, "no meters");
            check(beans().toString().contains("Virtualthreads"), "no endpoint");
            Runnable calls = (Runnable) context.getBean(loader.loadClass(RestartedShop.class.getName()));
            check(calls.getClass().getClassLoader() != Restarts.class.getClassLoader(), "class of all");
            calls.run();
        } finally {
            Thread.currentThread().setContextClassLoader(Restarts.class.getClassLoader());
        }
        return loader;
    }

    private static void check(boolean fine, String mistake) {
        if (!fine) {
            throw new AssertionError(mistake);
        }
    }

    /** Threads end a moment after their context, and collectors take their time. */
    private static List<String> settled(Supplier<List<String>> left) {
        long begin = System.nanoTime();
        List<String> last = left.get();
        while (!last.isEmpty() && System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(10)) {
            System.gc();
            last = left.get();
        }
        return last;
    }

    private static List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("vt-") || name.startsWith("JFR Event Stream"))
                .toList();
    }

    private static List<String> left(List<WeakReference<ClassLoader>> loaders) {
        return loaders.stream()
                .map(WeakReference::get)
                .filter(Objects::nonNull)
                .map(Object::toString)
                .toList();
    }

    private static List<String> beans() {
        Set<ObjectName> names = ManagementFactory.getPlatformMBeanServer().queryNames(null, null);
        return names.stream().map(ObjectName::getCanonicalName).collect(Collectors.toCollection(ArrayList::new));
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        VirtualThreadAutoConfiguration.class,
        VirtualThreadMetricsAutoConfiguration.class,
        VirtualThreadObservationAutoConfiguration.class,
        VirtualThreadPinningAutoConfiguration.class,
        VirtualThreadActuatorAutoConfiguration.class,
        VirtualThreadBoot3HealthAutoConfiguration.class,
        EndpointAutoConfiguration.class,
        JmxAutoConfiguration.class,
        JmxEndpointAutoConfiguration.class
    })
    static class Application {}

    @Configuration(proxyBeanMethods = false)
    static class Empty {}

    /** Loads one class itself, all others as everybody does. */
    private static final class OwnShop extends ClassLoader {

        OwnShop() {
            super(Restarts.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            Class<?> loaded = findLoadedClass(name);
            if (loaded != null || !name.equals(RestartedShop.class.getName())) {
                return loaded == null ? super.loadClass(name, resolve) : loaded;
            }
            try (InputStream code = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] bytes = Objects.requireNonNull(code).readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException broken) {
                throw new ClassNotFoundException(name, broken);
            }
        }
    }
}
