package io.github.virtualthread.web;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The TCP connections of this machine, or of its container, as Linux tells them. Reads nothing from the connections themselves.
 *
 * @param files with IPv4 and with IPv6, where a machine may have one of them only
 */
record TcpTable(List<Path> files) {

    static final TcpTable OF_LINUX =
            new TcpTable(List.of(Path.of("/proc/self/net/tcp"), Path.of("/proc/self/net/tcp6")));

    /** The kernel is asked for many lines at once. */
    private static final int BUFFER = 1 << 16;

    /** What is known of the connections of two ports. */
    enum State {
        /** None is there. */
        MISSING,
        /** The other side of one has closed it, and none is established. */
        CLOSED_BY_CLIENT,
        /** One is established, whatever the others are. */
        ESTABLISHED
    }

    /** The two ports of a connection as one number. */
    static int ports(int local, int remote) {
        return local << 16 | remote;
    }

    /** Whether this system has such a table. */
    boolean isReadable() {
        return files.stream().anyMatch(Files::isReadable);
    }

    /**
     * Reads the table once.
     *
     * @param wanted numbers of {@link #ports}
     * @return their states
     * @throws IOException if nothing is known, because the table cannot be read to its end
     */
    Map<Integer, State> states(Set<Integer> wanted) throws IOException {
        if (!isReadable()) {
            throw new IOException("None of %s can be read".formatted(files));
        }
        Map<Integer, State> states = new HashMap<>();
        wanted.forEach(ports -> states.put(ports, State.MISSING));
        byte[] buffer = new byte[BUFFER];
        for (Path file : files) {
            if (Files.isReadable(file)) {
                try (InputStream in = Files.newInputStream(file)) {
                    Lines lines = new Lines(states);
                    for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                        for (int i = 0; i < length; i++) {
                            lines.take(buffer[i]);
                        }
                    }
                }
            }
        }
        return states;
    }

    /**
     * Takes lines such as {@code 3: 0100007F:1F90 0100007F:C350 01 ...}, byte by byte: a number, two addresses with their ports, and the
     * state, all but the first in hexadecimal digits. A line that ends earlier does not count.
     */
    private static final class Lines {

        private static final int LOCAL = 2; // the number of its field
        private static final int REMOTE = 3;
        private static final int STATE = 4;
        private static final int ESTABLISHED = 1; // as Linux numbers them
        private static final int CLOSE_WAIT = 8;

        private final Map<Integer, State> states;
        private int field;
        private boolean inField;
        private int value; // of the field, or of what follows its colon
        private int local;
        private int remote;

        Lines(Map<Integer, State> states) {
            this.states = states;
        }

        void take(byte character) {
            if (character == '\n') {
                field = 0;
                inField = false;
            } else if (character == ' ') {
                if (inField) {
                    endField();
                }
                inField = false;
            } else {
                if (!inField) {
                    field++;
                    value = 0;
                }
                inField = true;
                value = character == ':' ? 0 : value << 4 | Character.digit(character, 16);
            }
        }

        private void endField() {
            switch (field) {
                case LOCAL -> local = value;
                case REMOTE -> remote = value;
                case STATE -> {
                    if (value == ESTABLISHED) {
                        note(State.ESTABLISHED);
                    } else if (value == CLOSE_WAIT) {
                        note(State.CLOSED_BY_CLIENT);
                    }
                }
                default -> {} // nothing of interest
            }
        }

        private void note(State state) {
            states.computeIfPresent(ports(local, remote), (ports, other) -> other.compareTo(state) > 0 ? other : state);
        }
    }
}
