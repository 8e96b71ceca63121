package io.github.virtualthread.context;

import ch.qos.logback.classic.util.LogbackMDCAdapter;
import io.github.virtualthread.context.MdcCapture.MdcReader;
import org.slf4j.spi.MDCAdapter;

/**
 * Reads Logback's own snapshot of the map: unmodifiable, made once per change, so that a burst of calls shares one. A class
 * of its own since Logback is optional.
 */
final class LogbackMdc {

    private LogbackMdc() {}

    static MdcReader reader(MDCAdapter adapter) {
        LogbackMDCAdapter logback = (LogbackMDCAdapter) adapter;
        return logback::getPropertyMap;
    }
}
