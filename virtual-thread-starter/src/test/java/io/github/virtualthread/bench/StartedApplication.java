package io.github.virtualthread.bench;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.Banner;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.scheduling.annotation.EnableAsync;

/** A Spring Boot application of 1,000 beans, each of its own class, that starts and stops. */
public final class StartedApplication implements Runnable {

    static final int BEANS = 1_000;
    static final List<Class<?>> CLASSES = List.of(StartedApplication.class, Plain.class, WithAsync.class);

    private final Class<?> application;

    /**
     * Creates an application, which has not started.
     *
     * @param contender {@code async} for one with {@code @EnableAsync}
     */
    public StartedApplication(String contender) {
        application = contender.equals("async") ? WithAsync.class : Plain.class;
    }

    static String bean(int number) {
        return StartedApplication.class.getPackageName() + ".Bean" + number;
    }

    /**
     * Says what the first start of a JVM takes: nanoseconds of processor time, of all threads, and bytes allocated.
     * Argument: which application.
     */
    public static void main(String[] arguments) {
        var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long processor = system.getProcessCpuTime();
        long bytes = threads.getTotalThreadAllocatedBytes();
        new StartedApplication(arguments[0]).run();
        System.out.println(
                (system.getProcessCpuTime() - processor) + " " + (threads.getTotalThreadAllocatedBytes() - bytes));
    }

    @Override
    public void run() {
        List<Class<?>> beans = new ArrayList<>();
        try {
            for (int i = 0; i < BEANS; i++) {
                beans.add(Class.forName(bean(i)));
            }
        } catch (ClassNotFoundException notWritten) {
            throw new IllegalStateException(notWritten);
        }
        new SpringApplicationBuilder(application)
                .bannerMode(Banner.Mode.OFF)
                .properties("logging.level.root=warn", "server.port=0")
                .initializers(starting -> beans.forEach(
                        bean -> ((GenericApplicationContext) starting).registerBean(bean.getSimpleName(), bean)))
                .run()
                .close();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Plain {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableAsync(proxyTargetClass = true)
    static class WithAsync {}
}
