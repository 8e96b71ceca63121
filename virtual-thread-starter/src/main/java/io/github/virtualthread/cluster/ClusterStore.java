package io.github.virtualthread.cluster;

import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Keeps a text for each limit with {@code cluster-permits}, on a server that all replicas of an application reach. It knows no rules:
 * only the starter reads the texts, and works out from them what each replica may use.
 */
@FunctionalInterface
public interface ClusterStore {

    /**
     * Opens what one exchange needs, such as a connection. May block: it is called on a thread of its own, which is interrupted if the
     * exchange takes longer than a lease.
     *
     * @return used by one thread, and closed by it
     * @throws Exception if the server cannot be reached
     */
    Session open() throws Exception;

    /**
     * How often replicas should exchange while calls run or wait, if the application does not say so.
     *
     * @return 100 ms by default
     */
    default Duration beat() {
        return Duration.ofMillis(100);
    }

    /** One exchange. */
    interface Session extends AutoCloseable {

        /**
         * Reads texts.
         *
         * @param limits names of limits, never empty
         * @return what is stored of them, and the time of the server at which it was read
         * @throws Exception if the server cannot be reached
         */
        Snapshot read(List<String> limits) throws Exception;

        /**
         * Replaces each text, in one atomic step for each, unless somebody has replaced it since it was read.
         *
         * @param texts what to store of which limit, with the version that was read; never empty
         * @return the limits that were not replaced: with an empty text if somebody else was faster, otherwise with the reason
         * @throws Exception if the server cannot be reached
         */
        Map<String, String> replace(Map<String, Text> texts) throws Exception;

        /**
         * Gives back what was opened.
         *
         * @throws Exception if that fails
         */
        @Override
        default void close() throws Exception {}
    }

    /**
     * What is stored of a limit.
     *
     * @param version changes each time that the text is replaced; 0 if there is no text
     * @param text visible ASCII characters, spaces and line feeds
     */
    record Text(long version, String text) {}

    /**
     * What is stored of some limits.
     *
     * @param now time of the server when it was read, in milliseconds since any moment that is the same for all replicas
     * @param server names the server process, so that a failover shows; empty if it says nothing
     * @param isShared whether other processes can have reached the data: then a limit without a text may be one whose data were lost
     * @param texts of those limits that have one
     */
    record Snapshot(long now, String server, boolean isShared, Map<String, Text> texts) {

        /** Copies the map, also with a null in it: whoever reads it names the store. */
        public Snapshot {
            texts = Collections.unmodifiableMap(new HashMap<>(texts));
        }
    }
}
