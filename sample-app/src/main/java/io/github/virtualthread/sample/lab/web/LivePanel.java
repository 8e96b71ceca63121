package io.github.virtualthread.sample.lab.web;

import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.sample.lab.Sampler;
import io.github.virtualthread.sample.lab.web.Live.LiveLimit;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.json.JsonMapper;

/** Tells twice a second what the limits and the JVM do. */
@RestController
class LivePanel {

    private static final Duration INTERVAL = Duration.ofMillis(500);
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final TaskLimits limits;
    private final MeterRegistry meters;
    private final ObjectWriter json;

    LivePanel(TaskLimits limits, MeterRegistry meters, JsonMapper json) {
        this.limits = limits;
        this.meters = meters;
        this.json = json.writer();
    }

    @GetMapping(path = "/lab/live", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
    SseEmitter live() {
        EventStream stream = new EventStream(json);
        Sampler sampler = Sampler.every(INTERVAL, seconds -> stream.sendUnlessBehind("live", now()));
        return stream.open(sampler::stop);
    }

    private Live now() {
        List<LiveLimit> ofLimits = limits.all().stream().map(this::limit).toList();
        long used = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        long collections = ManagementFactory.getGarbageCollectorMXBeans().stream()
                .mapToLong(GarbageCollectorMXBean::getCollectionCount)
                .sum();
        return new Live(ofLimits, THREADS.getThreadCount(), carriers(), used >> 20, collections);
    }

    private LiveLimit limit(TaskLimit limit) {
        Gauge oldest = meters.find("virtual.thread.limit.oldest.waiting")
                .tag("limit", limit.name())
                .gauge();
        long millis = oldest == null ? 0 : Math.round(oldest.value() * 1_000);
        return new LiveLimit(
                limit.name(), limit.permits(), limit.permits() - limit.available(), limit.waiting(), millis);
    }

    private static int carriers() {
        return (int) Stream.of(THREADS.getThreadInfo(THREADS.getAllThreadIds()))
                .filter(Objects::nonNull)
                .map(ThreadInfo::getThreadName)
                .filter(name -> name.startsWith("ForkJoinPool-1-worker-"))
                .count();
    }
}
