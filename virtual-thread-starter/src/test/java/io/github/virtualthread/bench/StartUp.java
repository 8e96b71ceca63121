package io.github.virtualthread.bench;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import java.lang.annotation.Annotation;
import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.description.annotation.AnnotationDescription;
import net.bytebuddy.description.modifier.Visibility;
import net.bytebuddy.implementation.FixedValue;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;

/** Start and stop of an application of 1,000 beans, each of a class of its own, some of them annotated. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(jvmArgsAppend = {"-Xms1g", "-Xmx1g"})
public class StartUp {

    private static final int BEANS = 1_000;
    private static final Map<String, Class<?>> CONFIGURATIONS =
            Map.of("plain", Plain.class, "async", WithAsync.class, "ours", WithOurs.class);

    /** In an application of the first kind the annotations mean nothing. */
    @Param({"plain", "async", "ours"})
    public String contender;

    @Param({"0", "100"})
    public int annotated;

    private final List<Class<?>> beans = new ArrayList<>();

    @Setup
    public void prepare() throws IllegalAccessException {
        Class<? extends Annotation> annotation = contender.equals("ours") ? VirtualThread.class : Async.class;
        for (int i = 0; i < BEANS; i++) {
            var call = new ByteBuddy()
                    .subclass(Object.class)
                    .name(StartUp.class.getPackageName() + ".Bean" + i)
                    .defineMethod("call", CompletableFuture.class, Visibility.PUBLIC)
                    .intercept(FixedValue.nullValue());
            var type = i < annotated
                    ? call.annotateMethod(
                            AnnotationDescription.Builder.ofType(annotation).build())
                    : call;
            beans.add(MethodHandles.lookup().defineClass(type.make().getBytes()));
        }
    }

    @Benchmark
    public void startAndStop() {
        new SpringApplicationBuilder(CONFIGURATIONS.get(contender))
                .web(WebApplicationType.NONE)
                .bannerMode(Banner.Mode.OFF)
                .properties("logging.level.root=warn")
                .initializers(starting -> beans.forEach(
                        bean -> ((GenericApplicationContext) starting).registerBean(bean.getSimpleName(), bean)))
                .run()
                .close();
    }

    @Configuration(proxyBeanMethods = false)
    static class Plain {}

    @Configuration(proxyBeanMethods = false)
    @EnableAsync(proxyTargetClass = true)
    static class WithAsync {}

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    static class WithOurs {}
}
