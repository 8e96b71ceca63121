package io.github.virtualthread.sample.lab.experiment;

import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadDoorAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadWebMvcAutoConfiguration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.http.converter.autoconfigure.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.tomcat.autoconfigure.servlet.TomcatServletWebServerAutoConfiguration;
import org.springframework.boot.web.server.servlet.context.AnnotationConfigServletWebServerApplicationContext;
import org.springframework.boot.webmvc.autoconfigure.DispatcherServletAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerRequest;
import org.springframework.web.servlet.function.ServerResponse;

/**
 * A web server with an application of its own, which has settings of its own: the sample itself has no limit at its door. It
 * is not a {@code SpringApplication}, which would set up the logging again.
 */
final class DoorServer implements AutoCloseable {

    static final String PATH = "/work?request=";

    private final AnnotationConfigServletWebServerApplicationContext context =
            new AnnotationConfigServletWebServerApplicationContext();

    private DoorServer(Map<String, Object> settings) {
        context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("door", settings));
        context.register(Application.class);
    }

    /**
     * Starts one, on a port that is free.
     *
     * @param work what its requests need; closed with it
     */
    static DoorServer start(Work work, boolean virtualThreads, Map<String, Object> settings) {
        return start(virtualThreads, settings, context -> context.registerBean(Work.class, () -> work));
    }

    /**
     * Starts one, on a port that is free.
     *
     * @param beans adds those of the application, of which one is its {@link Work}
     */
    static DoorServer start(
            boolean virtualThreads, Map<String, Object> settings, Consumer<GenericApplicationContext> beans) {
        Map<String, Object> all = new HashMap<>(settings);
        all.put("spring.threads.virtual.enabled", virtualThreads);
        all.put("server.address", "127.0.0.1");
        all.put("server.port", 0);
        all.put("server.tomcat.accept-count", 4_096); // all users may come at once
        all.put("server.tomcat.max-keep-alive-requests", -1);
        all.put("spring.mvc.servlet.load-on-startup", 1); // otherwise the first requests wait for it
        all.put("spring.web.resources.add-mappings", false);
        DoorServer server = new DoorServer(all);
        beans.accept(server.context);
        server.context.refresh();
        return server;
    }

    int port() {
        return Objects.requireNonNull(context.getWebServer(), "It has started").getPort();
    }

    <T> T bean(Class<T> type) {
        return context.getBean(type);
    }

    /** Ends what it still serves. */
    @Override
    public void close() {
        bean(Work.class).close();
        context.close();
    }

    /** What a request does. */
    interface Work extends AutoCloseable {

        ServerResponse serve(ServerRequest request) throws Exception;

        @Override
        void close();
    }

    /** Without an annotation by which the sample would find it. */
    @ImportAutoConfiguration({
        TomcatServletWebServerAutoConfiguration.class,
        DispatcherServletAutoConfiguration.class,
        WebMvcAutoConfiguration.class,
        HttpMessageConvertersAutoConfiguration.class,
        VirtualThreadAutoConfiguration.class,
        VirtualThreadDoorAutoConfiguration.class,
        VirtualThreadWebMvcAutoConfiguration.class
    })
    static final class Application {

        @Bean
        RouterFunction<ServerResponse> requests(Work work) {
            return RouterFunctions.route().GET("/work", work::serve).build();
        }
    }
}
