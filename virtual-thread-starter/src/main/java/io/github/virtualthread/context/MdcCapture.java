package io.github.virtualthread.context;

import ch.qos.logback.classic.util.LogbackMDCAdapter;
import io.github.virtualthread.context.CapturedContext.Scope;
import io.github.virtualthread.context.ContextPropagation.ContextCapture;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;
import org.slf4j.spi.MDCAdapter;

/** The mapped diagnostic context of SLF4J, for any logging system. */
final class MdcCapture implements ContextCapture {

    private static final String LOGBACK = "ch.qos.logback.classic.util.LogbackMDCAdapter";
    private static final Scope CLEAR = MDC::clear;

    private final MdcReader reader;
    private Latest latest = new Latest(Map.of(), new Captured(Map.of())); // immutable: a race makes one more copy

    /** Captures all keys. */
    MdcCapture() {
        this.reader = allKeys(MDC.getMDCAdapter());
    }

    /** Captures these keys only. */
    MdcCapture(List<String> keys) {
        List<String> wanted = List.copyOf(keys);
        this.reader = () -> only(wanted);
    }

    @Override
    public CapturedContext capture() {
        Map<String, String> entries = reader.read();
        return entries == null || entries.isEmpty() ? CapturedContext.EMPTY : captured(entries);
    }

    /** The calls of a burst read the same map, so they share one copy. */
    @SuppressWarnings("ReferenceEquality") // to compare the entries would take as long as to copy them
    private Captured captured(Map<String, String> entries) {
        Latest known = latest;
        if (known.read() != entries) {
            known = new Latest(entries, new Captured(new EntryMap(entries)));
            latest = known;
        }
        return known.captured();
    }

    private static MdcReader allKeys(@Nullable MDCAdapter adapter) {
        return adapter != null && adapter.getClass().getName().equals(LOGBACK)
                ? Logback.reader(adapter)
                : MDC::getCopyOfContextMap;
    }

    private static Map<String, String> only(List<String> keys) {
        Map<String, String> entries = new HashMap<>();
        for (String key : keys) {
            String value = MDC.get(key);
            if (value != null) {
                entries.put(key, value);
            }
        }
        return entries;
    }

    /** Reads the context map of the current thread. That map never changes afterwards, so the same map has the same entries. */
    @FunctionalInterface
    interface MdcReader {
        @Nullable
        Map<String, String> read();
    }

    /**
     * Reads Logback's own snapshot of the map: unmodifiable, made once per change, so that a burst of calls shares one. A
     * class of its own because Logback is optional.
     */
    private static final class Logback {

        static MdcReader reader(MDCAdapter adapter) {
            LogbackMDCAdapter logback = (LogbackMDCAdapter) adapter;
            return logback::getPropertyMap;
        }
    }

    /** What was captured last, and the map that it was captured from. */
    private record Latest(Map<String, String> read, Captured captured) {}

    record Captured(Map<String, String> entries) implements CapturedContext {

        @Override
        public Scope open() {
            MDC.setContextMap(entries);
            return CLEAR;
        }

        @Override
        public Map<String, String> mdc() {
            return entries;
        }
    }
}
