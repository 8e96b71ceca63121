package io.github.virtualthread.sample.lab.web;

import io.github.virtualthread.sample.lab.About;
import io.github.virtualthread.sample.lab.Lab;
import io.github.virtualthread.sample.lab.LabRun;
import io.github.virtualthread.sample.lab.LabRun.Event;
import io.github.virtualthread.sample.lab.Settings;
import io.github.virtualthread.sample.lab.Settings.Scale;
import java.util.List;
import java.util.Map;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.json.JsonMapper;

/** Lists experiments, starts and cancels them, and tells what happens. */
@RestController
@RequestMapping("/lab")
class LabController {

    private final Lab lab;
    private final ObjectWriter json;

    LabController(Lab lab, JsonMapper json) {
        this.lab = lab;
        this.json = json.writer();
    }

    @GetMapping("/experiments")
    List<About> experiments() {
        return lab.experiments();
    }

    /** JSON alone: a page of another origin can send other types without asking. */
    @PostMapping(path = "/experiments/{id}/runs", consumes = MediaType.APPLICATION_JSON_VALUE)
    @ResponseStatus(HttpStatus.ACCEPTED)
    Started start(@PathVariable String id, @RequestBody Map<String, String> chosen) {
        return Started.of(lab.start(id, chosen, Scale.NORMAL));
    }

    /** For a page that is opened, or loaded again, in the middle of a run. No content where none runs. */
    @GetMapping("/runs/running")
    ResponseEntity<Started> running() {
        return lab.running().map(run -> ResponseEntity.ok(Started.of(run))).orElseGet(() -> ResponseEntity.noContent()
                .build());
    }

    @GetMapping(path = "/runs/{number}/events", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
    SseEmitter events(@PathVariable long number) {
        LabRun run = find(number);
        EventStream stream = new EventStream(json);
        Runnable stop = run.listen(event -> tell(stream, event));
        return stream.open(stop);
    }

    @DeleteMapping("/runs/{number}")
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void cancel(@PathVariable long number) {
        find(number).cancel();
    }

    private LabRun find(long number) {
        return lab.run(number)
                .orElseThrow(() -> new ResponseStatusException(
                        HttpStatus.NOT_FOUND, "There is no run %d, or there has been another since".formatted(number)));
    }

    private static void tell(EventStream stream, Event event) {
        stream.send(event.type(), event);
        if (event instanceof LabRun.Answered || event instanceof LabRun.Ended) {
            stream.end();
        }
    }

    @ExceptionHandler
    ProblemDetail handle(Settings.BadSettings bad) {
        return ProblemDetail.forStatusAndDetail(HttpStatus.BAD_REQUEST, bad.getMessage());
    }

    @ExceptionHandler
    ProblemDetail handle(Lab.UnknownExperiment unknown) {
        return ProblemDetail.forStatusAndDetail(HttpStatus.NOT_FOUND, unknown.getMessage());
    }

    @ExceptionHandler
    ProblemDetail handle(Lab.Busy busy) {
        ProblemDetail problem = ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT, busy.getMessage());
        problem.setProperty("run", busy.run());
        return problem;
    }

    /** A run that has begun. */
    record Started(long run, String experiment, Map<String, Integer> settings) {

        static Started of(LabRun run) {
            return new Started(run.number(), run.id(), run.settings().values());
        }
    }
}
