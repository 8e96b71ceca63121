package io.github.virtualthread.sample.partner;

import java.util.List;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** The slow partner. It is somebody else's service; the sample serves it itself, so that nothing else has to run. */
@RestController
class PartnerController {

    @GetMapping("/partner/reviews/{id}")
    List<Review> reviews(@PathVariable long id) throws InterruptedException {
        Thread.sleep(200);
        return List.of(new Review(5, "Keeps the tea warm"), new Review(4, "Smaller than it looks"));
    }
}
