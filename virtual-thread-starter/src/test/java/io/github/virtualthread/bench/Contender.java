package io.github.virtualthread.bench;

import static java.util.Map.entry;

import io.github.virtualthread.bench.Services.Service;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * One way of running a body on a virtual thread of its own.
 *
 * @param start starts one call
 * @param end ends what is needed for that
 */
record Contender(Callable<? extends Future<?>> start, Runnable end) {

    private static final Map<String, Class<?>> CONFIGURATIONS = Map.ofEntries(
            entry("floor", Services.Floor.class),
            entry("by-hand", Services.ByHand.class),
            entry("async", Services.Async.class),
            entry("async-pool", Services.AsyncPool.class),
            entry("async-limited", Services.AsyncLimited.class),
            entry("async-full", Services.AsyncFull.class),
            entry("spring-7", Services.Spring7.class),
            entry("ours", Services.Ours.class),
            entry("ours-async", Services.OursAsync.class),
            entry("ours-full", Services.OursFull.class),
            entry("ours-app", Services.OursApp.class),
            entry("ours-app-metered", Services.OursAppMetered.class));

    /**
     * The contender of that name, ready to be called.
     *
     * @param permits how many bodies run at once, for those contenders that have a limit
     * @param body the same for all
     */
    static Contender of(String name, int permits, Callable<?> body) {
        if (name.equals("jdk")) {
            ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
            return new Contender(() -> executor.submit(body), executor::close);
        }
        ConfigurableApplicationContext context = start(name, CONFIGURATIONS.get(name), permits, body);
        Service service = context.getBean(Service.class);
        return new Contender(service::call, context::close);
    }

    /** An application with the body as a bean. */
    static ConfigurableApplicationContext start(String name, Class<?> configuration, int permits, Callable<?> body) {
        return new SpringApplicationBuilder(configuration)
                .web(WebApplicationType.NONE)
                .bannerMode(Banner.Mode.OFF)
                .properties(
                        "logging.level.root=warn",
                        "bench.permits=" + permits,
                        "virtual-thread.limits.db.permits=" + permits,
                        name.equals("ours-async") ? "virtual-thread.async.limit=db" : "bench.contender=" + name,
                        // except in an application as people have it the MDC alone, as with the others
                        "virtual-thread.propagation.context=" + name.startsWith("ours-app"))
                .initializers(starting -> starting.getBeanFactory().registerSingleton("body", body))
                .run();
    }

    Future<?> call() throws Exception {
        return start.call();
    }
}
