package io.github.virtualthread.sample.lab.experiment;

import java.net.InetAddress;
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

    /** Ends what is still served, by interrupt. */
    @Override
    public void close() {
        virtualThreads.shutdownNow();
        close(platform);
        close(virtual);
    }

    private void close(Connector connector) {
        tomcat.removeConnector(connector); // stops it
        try {
            connector.destroy();
        } catch (LifecycleException failure) {
            throw new IllegalStateException("Port %d cannot be closed".formatted(connector.getLocalPort()), failure);
        }
    }
}
