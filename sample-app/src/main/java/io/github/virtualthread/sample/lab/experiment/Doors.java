package io.github.virtualthread.sample.lab.experiment;

import java.net.InetAddress;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.Service;
import org.apache.catalina.connector.Connector;
import org.apache.coyote.AbstractProtocol;
import org.apache.coyote.http11.Http11NioProtocol;
import org.springframework.boot.tomcat.TomcatWebServer;
import org.springframework.boot.web.server.WebServer;

/**
 * Two more ways into this application while an experiment runs, on ports of their own: one is served by 200 platform threads, as
 * Tomcat is by default, the other by virtual threads. All that lies behind them is the same.
 */
final class Doors implements AutoCloseable {

    static final int PLATFORM_THREADS = 200;

    private final Service tomcat;
    private final ExecutorService virtualThreads = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("lab-web-", 0).factory());
    private final Connector platform;
    private final Connector virtual;

    private Doors(Service tomcat) {
        this.tomcat = tomcat;
        this.platform = connector();
        protocol(platform).setMaxThreads(PLATFORM_THREADS);
        this.virtual = connector();
        protocol(virtual).setExecutor(virtualThreads);
    }

    /** Opens both, until they are closed. */
    static Doors open(WebServer server) {
        if (!(server instanceof TomcatWebServer tomcat)) {
            throw new IllegalStateException("The experiment needs Tomcat, was " + server);
        }
        Doors doors = new Doors(tomcat.getTomcat().getService());
        doors.tomcat.addConnector(doors.platform);
        doors.tomcat.addConnector(doors.virtual);
        return doors;
    }

    private static Connector connector() {
        Connector connector = new Connector(Http11NioProtocol.class.getName());
        connector.setPort(0);
        connector.setAsyncTimeout(0); // a request may take as long on another thread as on its own
        AbstractProtocol<?> protocol = protocol(connector);
        protocol.setAddress(InetAddress.getLoopbackAddress());
        protocol.setAcceptCount(4_096); // all users may come at once
        ((Http11NioProtocol) protocol).setMaxKeepAliveRequests(-1);
        return connector;
    }

    private static AbstractProtocol<?> protocol(Connector connector) {
        return (AbstractProtocol<?>) connector.getProtocolHandler();
    }

    int platform() {
        return platform.getLocalPort();
    }

    int virtual() {
        return virtual.getLocalPort();
    }

    /**
     * Waits until all requests are answered that no thread serves at this moment, but no longer than that. A closed door leaves
     * them as they are, and the application would wait for them when it stops.
     */
    void awaitAnswers(Duration longest) throws InterruptedException {
        long end = System.nanoTime() + longest.toNanos();
        while (unanswered() > 0 && end - System.nanoTime() > 0) {
            Thread.sleep(10); // nobody tells when
        }
    }

    private int unanswered() {
        return protocol(platform).getWaitingProcessorCount() + protocol(virtual).getWaitingProcessorCount();
    }

    /** Ends what a thread still serves, by interrupt. */
    @Override
    public void close() {
        tomcat.removeConnector(platform); // stops it
        tomcat.removeConnector(virtual);
        virtualThreads.shutdownNow(); // not earlier: the door would still give it work
        destroy(platform);
        destroy(virtual);
    }

    private static void destroy(Connector connector) {
        try {
            connector.destroy();
        } catch (LifecycleException failure) {
            throw new IllegalStateException("Port %d cannot be closed".formatted(connector.getLocalPort()), failure);
        }
    }
}
