package io.github.virtualthread.context;

import ch.qos.logback.classic.util.LogbackMDCAdapter;
import io.github.virtualthread.context.CapturedContext.Scope;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;
import org.slf4j.spi.MDCAdapter;

/** The mapped diagnostic context of SLF4J, for any logging system. */
final class MdcCapture implements Capture {

    private static final String LOGBACK = "ch.qos.logback.classic.util.LogbackMDCAdapter";
    private static final Scope CLEAR = MDC::clear;

    private final boolean logback = isLogback(MDC.getMDCAdapter());

    /** Reads the context map of the current thread. That map never changes afterwards, so the same map has the same entries. */
    private final Supplier<@Nullable Map<String, String>> reader;

    private Latest latest = new Latest(Map.of(), new Captured(Map.of())); // immutable: a race makes one more copy

    /** Captures all keys. */
    MdcCapture() {
        this.reader = logback ? ofLogback() : MDC::getCopyOfContextMap;
    }

    /** Captures these keys only. */
    MdcCapture(List<String> keys) {
        List<String> wanted = List.copyOf(keys);
        this.reader = () -> only(wanted);
    }

    private static boolean isLogback(@Nullable MDCAdapter adapter) {
        return adapter != null && adapter.getClass().getName().equals(LOGBACK);
    }

    @Override
    public CapturedContext get() {
        Map<String, String> entries = reader.get();
        return entries == null || entries.isEmpty() ? CapturedContext.EMPTY : captured(entries);
    }

    /** All keys, also where only some are captured. */
    @Override
    public Scope hide() {
        Map<String, String> found = MDC.getCopyOfContextMap();
        MDC.clear();
        return found == null ? CLEAR : () -> MDC.setContextMap(found);
    }

    /** The calls of a burst read the same map, so they share one copy. */
    @SuppressWarnings("ReferenceEquality") // to compare the entries would take as long as to copy them
    private Captured captured(Map<String, String> entries) {
        Latest known = latest;
        if (known.read() == entries) {
            known.captured().sharedByAnother();
        } else {
            known = new Latest(entries, logback ? new CapturedOfLogback(entries) : new Captured(entries));
            latest = known;
        }
        return known.captured();
    }

    private static Map<String, String> only(List<String> keys) {
        Map<String, String> entries = new HashMap<>();
        for (String key : keys) {
            entries.computeIfAbsent(key, MDC::get); // none where it has no value
        }
        return entries;
    }

    /** Reads Logback's own snapshot of the map: unmodifiable, made once per change, so that a burst of calls shares one. */
    private static Supplier<@Nullable Map<String, String>> ofLogback() {
        return ((LogbackMDCAdapter) MDC.getMDCAdapter())::getPropertyMap;
    }

    /** What was captured last, and the map that it was captured from. */
    private record Latest(Map<String, String> read, Captured captured) {}

    /** The entries as an array, which is a fraction of the size of a map. */
    private static class Captured implements CapturedContext {

        /** A key, its value, the next key, and so on. */
        final @Nullable String[] entries;

        private volatile @Nullable Map<String, String> shared; // never changes

        Captured(Map<String, String> copied) {
            this.entries = new String[2 * copied.size()];
            copied.forEach(new Filling(entries));
        }

        /** Keeps a map beside the entries, because a logging system copies that faster, and calls of a burst need only one. */
        final void sharedByAnother() {
            if (shared == null) {
                shared = map();
            }
        }

        @Override
        public Scope open() {
            Map<String, String> kept = shared;
            if (kept == null) {
                set();
            } else {
                MDC.setContextMap(kept);
            }
            return CLEAR;
        }

        /** Sets the entries on the current thread, in place of all others. */
        void set() {
            MDC.setContextMap(map());
        }

        @Override
        public final Map<String, String> mdc() {
            Map<String, String> kept = shared;
            return Collections.unmodifiableMap(kept == null ? map() : kept);
        }

        private Map<String, String> map() {
            Map<String, String> map = HashMap.newHashMap(entries.length / 2);
            for (int i = 0; i < entries.length; i += 2) {
                map.put(entries[i], entries[i + 1]);
            }
            return map;
        }
    }

    /** Logback takes entry after entry without copying anything. Log4j copies its map each time that an entry is added. */
    private static final class CapturedOfLogback extends Captured {

        CapturedOfLogback(Map<String, String> copied) {
            super(copied);
        }

        @Override
        void set() {
            MDC.clear();
            try {
                for (int i = 0; i < entries.length; i += 2) {
                    MDC.put(entries[i], entries[i + 1]);
                }
            } catch (Throwable refused) { // a key that is null; if memory is short, all keys or none
                MDC.clear();
                super.set();
            }
        }
    }

    /** Writes the entries of a map to an array, without an object for each. */
    private static final class Filling implements BiConsumer<String, String> {

        private final @Nullable String[] entries;
        private int length;

        Filling(@Nullable String[] entries) {
            this.entries = entries;
        }

        @Override
        public void accept(String key, String value) {
            entries[length++] = key;
            entries[length++] = value;
        }
    }
}
