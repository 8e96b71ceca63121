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

/**
 * A Spring Boot application of 1,000 beans that starts, stops and says what that took: nanoseconds of processor time and bytes
 * allocated, for one start and stop. Arguments: which one it is; how many starts do not count; how many do.
 */
public final class StartedApplication {

    static final int BEANS = 1_000;
    static final List<Class<?>> CLASSES = List.of(StartedApplication.class, Plain.class, WithAsync.class);

    private StartedApplication() {}

    static String bean(int number) {
        return StartedApplication.class.getPackageName() + ".Bean" + number;
    }

    public static void main(String[] arguments) throws ClassNotFoundException {
        var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        Class<?> application = arguments[0].equals("async") ? WithAsync.class : Plain.class;
        int starts = Integer.parseInt(arguments[2]);
        startAndStop(application, Integer.parseInt(arguments[1]));
        long processor = system.getProcessCpuTime();
        long bytes = threads.getTotalThreadAllocatedBytes();
        startAndStop(application, starts);
        System.out.println((system.getProcessCpuTime() - processor) / starts + " "
                + (threads.getTotalThreadAllocatedBytes() - bytes) / starts);
    }

    private static void startAndStop(Class<?> application, int times) throws ClassNotFoundException {
        for (int i = 0; i < times; i++) {
            List<Class<?>> beans = new ArrayList<>();
            for (int bean = 0; bean < BEANS; bean++) {
                beans.add(Class.forName(bean(bean)));
            }
            new SpringApplicationBuilder(application)
                    .bannerMode(Banner.Mode.OFF)
                    .properties("logging.level.root=warn")
                    .initializers(starting -> beans.forEach(
                            bean -> ((GenericApplicationContext) starting).registerBean(bean.getSimpleName(), bean)))
                    .run()
                    .close();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Plain {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableAsync(proxyTargetClass = true)
    static class WithAsync {}
}
