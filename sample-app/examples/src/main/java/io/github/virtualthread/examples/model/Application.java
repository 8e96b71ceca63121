package io.github.virtualthread.examples.model;

import io.github.virtualthread.Limited;
import io.github.virtualthread.execution.TaskCall;
import io.github.virtualthread.execution.TaskListener;
import java.io.IOException;
import java.io.Writer;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.stereotype.Component;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** A language model with 2 slots, of which one user gets one at most. The answer is streamed, word by word. */
@SpringBootApplication
public class Application {

    public static void main(String[] args) {
        new SpringApplicationBuilder(Application.class)
                .properties(
                        "server.address=127.0.0.1", // nobody else reaches it
                        "spring.threads.virtual.enabled=true", // a request that waits or streams is a virtual thread
                        "virtual-thread.limits.model.permits=2", // slots of the model
                        "virtual-thread.limits.model.permits-per-key=1", // one user has one slot at most
                        "virtual-thread.limits.model.queue-capacity-per-key=4", // one more question of a user: 503
                        "virtual-thread.limits.model.max-wait=20s") // nor does a user wait longer than this
                .run(args);
    }

    @Service
    static class Model {

        private static final List<String> WORDS =
                List.of("That", "is", "a", "good", "question.", "I", "do", "not", "know", "the", "answer.\n");

        @Limited(limit = "model", key = "#user") // has a slot from the first word to the last
        void answer(String user, Writer out) throws IOException, InterruptedException {
            for (String word : WORDS) {
                Thread.sleep(100); // in place of the client of a model
                out.write(word + " ");
                out.flush(); // the user sees each word at once
            }
        }
    }

    @RestController
    static class Chat {

        private final Model model;

        Chat(Model model) {
            this.model = model;
        }

        @GetMapping("/chat/{user:\\w{1,50}}") // the key, which the log shows: no line breaks, and not long
        void chat(@PathVariable String user, Writer out) throws IOException, InterruptedException {
            model.answer(user, out);
        }
    }

    @Component
    static class Waits implements TaskListener {

        private static final Logger log = LoggerFactory.getLogger(Waits.class);

        @Override
        public void started(TaskCall call) {
            log.info("{} waited {} ms for a slot", call.key(), call.waited().toMillis());
        }
    }
}
