package com.acme.queries;

import com.acme.queries.Calls.Query;
import io.github.virtualthread.limit.TaskLimits;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.devtools.restart.Restarter;
import org.springframework.context.ConfigurableApplicationContext;

/** An application that Devtools restarts once, while the database runs its query. See {@link RestartTests}. */
public class Restarted {

    private static final Database DATABASE = Database.POSTGRES;

    /** Called again by the restart, on a class of another class loader. */
    public static void main(String[] args) {
        SpringApplication application = new SpringApplication(Shop.Application.class);
        application.setDefaultProperties(RestartTests.properties(DATABASE.url()));
        application.addInitializers(starting -> starting.getBeanFactory().registerSingleton("database", DATABASE));
        ConfigurableApplicationContext context = application.run(args);
        Queries queries = context.getBean(Queries.class);
        if (System.getProperty("restarted") == null) {
            System.setProperty("restarted", "true");
            queries.plain(new Query(3, DATABASE.sleep("3", 300)));
            await(() -> DATABASE.queries().contains(3));
            Thread.ofPlatform().start(() -> Restarter.getInstance().restart());
            return;
        }
        await(() -> !DATABASE.queries().contains(3));
        CompletableFuture<Void> call = queries.plain(new Query(4, DATABASE.sleep("4", 300)));
        await(() -> DATABASE.queries().contains(4));
        call.cancel(true);
        Calls calls = context.getBean(Calls.class);
        TaskLimits limits = context.getBean(TaskLimits.class);
        await(() -> !calls.outcomes().isEmpty() && limits.get("db").available() == Shop.POOL);
        System.out.printf(
                "ROUND 2 in %s: old query has ended, own %s%n",
                Restarted.class.getClassLoader().getClass().getSimpleName(), calls.outcomes());
        System.exit(0);
    }

    private static void await(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            LockSupport.parkNanos(1_000_000);
        }
    }
}
