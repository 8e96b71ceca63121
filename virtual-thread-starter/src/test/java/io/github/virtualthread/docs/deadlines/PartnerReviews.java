package io.github.virtualthread.docs.deadlines;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.execution.Deadline;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.springframework.stereotype.Service;

// example: PartnerReviews
@Service
class PartnerReviews {

    private final HttpClient http = HttpClient.newHttpClient();

    @VirtualThread(limit = "partner", deadline = "2s")
    CompletableFuture<String> review(URI product) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(product)
                .timeout(Deadline.atMost(Duration.ofSeconds(5))) // what is left of the 2 s
                .build();
        return completedFuture(http.send(request, BodyHandlers.ofString()).body());
    }
}
// end
