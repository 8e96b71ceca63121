package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.limit.TaskLimits;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.AnnotationConfigRegistry;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.aot.AbstractAotProcessor;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.test.tools.CompileWithForkedClassLoader;
import org.springframework.core.test.tools.TestCompiler;

/** Applications processed ahead of time, compiled, and started from what was generated, under other properties. */
abstract class GeneratedApplications {

    static final Map<String, Object> LIMITS = Map.of("virtual-thread.limits.db.permits", "2");

    /** In a class loader of its own, where package-private classes see generated ones of their package. */
    @Test
    @CompileWithForkedClassLoader
    @EnabledIf(value = "isCompilerThere", disabledReason = "this Java runtime has no compiler")
    @Retention(RetentionPolicy.RUNTIME)
    @interface CompiledTest {}

    static boolean isCompilerThere() {
        return ToolProvider.getSystemJavaCompiler() != null;
    }

    static TestGenerationContext processed(Class<?> application, Map<String, Object> properties) {
        return processed(new AnnotationConfigApplicationContext(), application, properties);
    }

    static <C extends GenericApplicationContext & AnnotationConfigRegistry> TestGenerationContext processed(
            C context, Class<?> application, Map<String, Object> properties) {
        TestGenerationContext generation = new TestGenerationContext();
        System.setProperty(AbstractAotProcessor.AOT_PROCESSING, "true");
        try (context) {
            properties(context, properties);
            context.register(application);
            new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
        } finally {
            System.clearProperty(AbstractAotProcessor.AOT_PROCESSING);
        }
        generation.writeGeneratedContent();
        return generation;
    }

    static void started(
            Class<?> application,
            Map<String, Object> whenBuilt,
            Map<String, Object> whenStarted,
            Consumer<GenericApplicationContext> then) {
        started(processed(application, whenBuilt), new GenericApplicationContext(), whenStarted, then);
    }

    static void started(
            TestGenerationContext generation,
            GenericApplicationContext fresh,
            Map<String, Object> whenStarted,
            Consumer<GenericApplicationContext> then) {
        TestCompiler.forSystem().with(generation).compile(compiled -> {
            try (fresh) {
                properties(fresh, whenStarted);
                initializer(compiled.getAllCompiledClasses().stream()
                                .filter(ApplicationContextInitializer.class::isAssignableFrom)
                                .findFirst()
                                .orElseThrow())
                        .initialize(fresh);
                fresh.refresh();
                then.accept(fresh);
            }
        });
    }

    @SuppressWarnings("unchecked")
    static ApplicationContextInitializer<GenericApplicationContext> initializer(Class<?> type) {
        try {
            return (ApplicationContextInitializer<GenericApplicationContext>)
                    type.getDeclaredConstructor().newInstance();
        } catch (ReflectiveOperationException failure) {
            throw new IllegalStateException(failure);
        }
    }

    static void properties(GenericApplicationContext context, Map<String, Object> properties) {
        context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("test", properties));
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    @Import(Mailer.class)
    static class Shop {}

    static class Mailer {

        @VirtualThread(limit = "db", key = "#tenant.toString()")
        CompletableFuture<Integer> running(String tenant, TaskLimits limits) {
            return CompletableFuture.completedFuture(
                    limits.get("db").key(tenant).running());
        }

        @VirtualThread("db")
        CompletableFuture<String> send() {
            return CompletableFuture.completedFuture(Thread.currentThread().getName());
        }
    }
}
