package io.github.virtualthread.sample.lab.web;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter.SseEventBuilder;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.SerializationFeature;

/** Server-sent events that are written by a thread of their own: whoever tells of them never waits for a browser. */
final class EventStream {

    private static final int MOST_BEHIND = 10;

    private final ObjectWriter json;
    private final SseEmitter emitter = new SseEmitter(0L);
    private final BlockingQueue<Optional<SseEventBuilder>> waiting = new LinkedBlockingQueue<>();
    private final Thread writer = Thread.ofVirtual().name("lab-events").unstarted(this::write);

    /** A stream of JSON that is written by {@code json}: on one line for each event. */
    EventStream(ObjectWriter json) {
        this.json = json.without(SerializationFeature.INDENT_OUTPUT);
    }

    /** Begins to write; {@code onEnd} is run when nobody reads any more, or after the end. */
    SseEmitter open(Runnable onEnd) {
        emitter.onCompletion(() -> {
            writer.interrupt();
            onEnd.run();
        });
        writer.start();
        return emitter;
    }

    void send(String type, Object data) {
        waiting.add(Optional.of(SseEmitter.event().name(type).data(json.writeValueAsString(data))));
    }

    /** What will be told again soon: left out where the browser does not keep up. */
    void sendUnlessBehind(String type, Object data) {
        if (waiting.size() < MOST_BEHIND) {
            send(type, data);
        }
    }

    /** After all that has been sent. */
    void end() {
        waiting.add(Optional.empty());
    }

    private void write() {
        try {
            Optional<SseEventBuilder> next = waiting.take();
            while (next.isPresent()) {
                emitter.send(next.get());
                next = waiting.take();
            }
            emitter.complete();
        } catch (IOException | IllegalStateException gone) {
            // the browser has closed the page
            emitter.complete();
        } catch (InterruptedException closed) {
            Thread.currentThread().interrupt();
        }
    }
}
