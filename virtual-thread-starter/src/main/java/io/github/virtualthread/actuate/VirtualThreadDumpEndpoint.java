package io.github.virtualthread.actuate;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.HotSpotDiagnosticMXBean.ThreadDumpFormat;
import io.github.virtualthread.Internal;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicBoolean;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.InputStreamResource;
import org.springframework.core.io.Resource;

/**
 * Actuator endpoint with the stacks of all threads, including virtual threads, which the endpoint {@code threaddump} omits.
 * Not accessible unless {@code management.endpoint.virtualthreaddump.access} allows it.
 */
@Internal
@WebEndpoint(id = "virtualthreaddump", defaultAccess = Access.NONE)
public class VirtualThreadDumpEndpoint {

    private static final String BUSY = "Another thread dump is being written; try again when it is finished";

    private final ThreadDumpFile.Writer writer;
    private final AtomicBoolean writing = new AtomicBoolean();

    /** Creates an endpoint that writes one dump at a time. */
    public VirtualThreadDumpEndpoint() {
        this((file, format) -> ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                .dumpThreads(file, format));
    }

    VirtualThreadDumpEndpoint(ThreadDumpFile.Writer writer) {
        this.writer = writer;
    }

    /**
     * Returns the dump for programs, as {@code jcmd <pid> Thread.dump_to_file -format=json} writes it. Blocks while the JVM
     * writes it.
     *
     * @return a stream that can be read once, or status 429 while another dump is written
     * @throws IOException if the dump cannot be written to a file
     */
    @ReadOperation(produces = "application/json")
    public WebEndpointResponse<Resource> json() throws IOException {
        return dump(ThreadDumpFormat.JSON, "{\"message\": \"" + BUSY + "\"}");
    }

    /**
     * Returns the dump for people. Blocks while the JVM writes it.
     *
     * @return a stream that can be read once, or status 429 while another dump is written
     * @throws IOException if the dump cannot be written to a file
     */
    @ReadOperation(produces = "text/plain;charset=UTF-8")
    public WebEndpointResponse<Resource> text() throws IOException {
        return dump(ThreadDumpFormat.TEXT_PLAIN, BUSY);
    }

    private WebEndpointResponse<Resource> dump(ThreadDumpFormat format, String busy) throws IOException {
        if (!writing.compareAndSet(false, true)) {
            Resource refusal = new ByteArrayResource(busy.getBytes(StandardCharsets.UTF_8));
            return new WebEndpointResponse<>(refusal, WebEndpointResponse.STATUS_TOO_MANY_REQUESTS);
        }
        try {
            // this very class: for a subclass, Spring would read the stream to learn its length
            return new WebEndpointResponse<>(
                    new InputStreamResource(ThreadDumpFile.write(writer, format), "thread dump"));
        } finally {
            writing.set(false);
        }
    }
}
