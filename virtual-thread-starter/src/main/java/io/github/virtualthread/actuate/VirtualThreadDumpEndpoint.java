package io.github.virtualthread.actuate;

import com.sun.management.HotSpotDiagnosticMXBean.ThreadDumpFormat;
import java.io.IOException;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.core.io.InputStreamResource;
import org.springframework.core.io.Resource;

/**
 * All threads with their stacks, virtual ones included, which the endpoint {@code threaddump} does not know. Not accessible
 * unless {@code management.endpoint.virtualthreaddump.access} says so.
 */
@WebEndpoint(id = "virtualthreaddump", defaultAccess = Access.NONE)
public class VirtualThreadDumpEndpoint {

    /** An endpoint without state. */
    public VirtualThreadDumpEndpoint() {}

    /**
     * The dump for programs, as {@code jcmd <pid> Thread.dump_to_file -format=json} writes it. Blocks while the JVM writes it.
     *
     * @return a stream, for one use
     * @throws IOException if the file for it cannot be written
     */
    @ReadOperation(produces = "application/json")
    public Resource json() throws IOException {
        return dump(ThreadDumpFormat.JSON);
    }

    /**
     * The dump for people. Blocks while the JVM writes it.
     *
     * @return a stream, for one use
     * @throws IOException if the file for it cannot be written
     */
    @ReadOperation(produces = "text/plain;charset=UTF-8")
    public Resource text() throws IOException {
        return dump(ThreadDumpFormat.TEXT_PLAIN);
    }

    /** Of this class itself: of others Spring would read the stream to learn its length. */
    private static Resource dump(ThreadDumpFormat format) throws IOException {
        return new InputStreamResource(ThreadDumpFile.write(format), "thread dump");
    }
}
