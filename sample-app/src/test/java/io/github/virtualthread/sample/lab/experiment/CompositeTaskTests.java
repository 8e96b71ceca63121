package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

import io.github.virtualthread.sample.SampleTest;
import io.github.virtualthread.sample.catalog.ProductRepository;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Gantt;
import io.github.virtualthread.sample.lab.Answer.Span;
import io.github.virtualthread.sample.lab.Lab;
import io.github.virtualthread.sample.lab.Run;
import io.github.virtualthread.sample.lab.Settings;
import io.github.virtualthread.sample.lab.Settings.Scale;
import io.github.virtualthread.sample.partner.PartnerClient;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;

@SampleTest
@Tag("slow")
class CompositeTaskTests {

    private static final Map<String, String> SETTINGS = Map.of("fan", "100", "millis", "10", "rounds", "1");
    private static final List<String> TOGETHER = List.of(CompositeTask.ASYNC, CompositeTask.VIRTUAL, CompositeTask.ALL);

    @Test
    void itMeasuresThePageTheFailureAndTheFanOut(@Autowired Lab lab) throws Exception {
        Answer answer =
                lab.start("composite-task", SETTINGS, Scale.SMALL).answer().get(10, TimeUnit.MINUTES);

        for (Answer.Row row : answer.rows()) {
            assertThat(page(answer, row.name())).as(row.name()).allSatisfy(span -> assertThat(row.median("work"))
                    .isGreaterThanOrEqualTo(span.to()));
            assertThat(page(answer, row.name()))
                    .as(row.name())
                    .extracting(Span::part, Span::end)
                    .containsExactly(tuple("price", "done"), tuple("reviews", "done"), tuple("stock", "done"));
        }
        assertTheUserWaitsForTheMainPartOnly(answer);
        assertThat(answer.row(CompositeTask.SEQUENTIAL).figures()).doesNotContainKey("fanOut");
        for (String together : TOGETHER) {
            assertThat(answer.row(together).median("fanOut")).as(together).isGreaterThanOrEqualTo(10);
        }
    }

    private static void assertTheUserWaitsForTheMainPartOnly(Answer answer) {
        Answer.Row first = answer.row(CompositeTask.MAIN_FIRST);
        List<Span> spans = page(answer, CompositeTask.MAIN_FIRST);
        assertThat(first.median("page"))
                .isBetween(spans.getFirst().to(), spans.get(1).to()); // the price, and the reviews
        assertThat(first.median("work")).isGreaterThan(first.median("page"));
        assertThat(first.figures()).doesNotContainKey("failed");
    }

    @Test
    void thePartsOfAPageRunAtOnceAndAFailureStopsTheRestOnlyWithAll(@Autowired PageParts parts) throws Exception {
        Script script = new Script();
        CompositeTask experiment = new CompositeTask(parts, script.products, script.partner);
        Settings settings = Settings.of(experiment.about().parameters(), SETTINGS, Scale.SMALL);

        Answer answer = experiment.run(new Run(settings, script));

        for (String together : TOGETHER) {
            double first =
                    page(answer, together).stream().mapToDouble(Span::to).min().orElseThrow();
            assertThat(page(answer, together)).as(together).hasSize(3).allSatisfy(span -> assertThat(span.from())
                    .isLessThanOrEqualTo(first));
        }
        for (String others : List.of(CompositeTask.ASYNC, CompositeTask.VIRTUAL)) {
            assertThat(failure(answer, others))
                    .as(others)
                    .extracting(Span::end)
                    .containsExactly("done", "failed", "done");
            // what goes on after the user has heard is work of the server
            assertThat(failure(answer, others)).as(others).allSatisfy(span -> assertThat(
                            answer.row(others).median("server"))
                    .isGreaterThanOrEqualTo(span.to()));
        }
        // one that had not begun yet has no span, and never begins
        assertThat(failure(answer, CompositeTask.ALL))
                .extracting(Span::end)
                .containsOnlyOnce("failed")
                .doesNotContain("done");
        assertThat(script.stillWait).as("parts that nobody has stopped").hasValue(0);
        assertThat(answer.row(CompositeTask.ALL).median("server"))
                .isEqualTo(answer.row(CompositeTask.ALL).median("failed"));
    }

    private static List<Span> page(Answer answer, String way) {
        return spans(answer, way + ": the page");
    }

    private static List<Span> failure(Answer answer, String way) {
        return spans(answer, way + ": the reviews fail");
    }

    private static List<Span> spans(Answer answer, String title) {
        return answer.gantts().stream()
                .filter(gantt -> gantt.title().equals(title))
                .findFirst()
                .map(Gantt::spans)
                .orElseThrow();
    }

    /**
     * Parts that do not go by the clock. Those of a page end when all of them run, where they can. When the reviews fail, the
     * others wait for an interrupt with {@code all}, and elsewhere go on for a while.
     */
    private static final class Script extends Unwatched {

        private final ProductRepository products = mock();
        private final PartnerClient partner = mock();
        private final Thread experiment = Thread.currentThread();
        private final CyclicBarrier allParts = new CyclicBarrier(3);
        private final Set<String> begun = ConcurrentHashMap.newKeySet();
        private final AtomicInteger stillWait = new AtomicInteger();
        private volatile String way = "";

        Script() {
            given(products.price(anyLong())).willAnswer(call -> {
                database("price");
                return BigDecimal.ONE;
            });
            given(products.stock(anyLong())).willAnswer(call -> {
                database("stock");
                return 1;
            });
            given(partner.reviews(anyLong())).willAnswer(call -> {
                meet();
                return List.of();
            });
        }

        @Override
        public void progress(double done, String text) {
            way = text.replaceFirst(".*: ", "");
            begun.clear();
        }

        private void database(String part) throws Exception {
            if (begun.add(part)) {
                meet(); // of the page, which comes first
            } else if (way.equals(CompositeTask.ALL)) {
                stillWait.incrementAndGet();
                try {
                    new CountDownLatch(1).await();
                } finally {
                    stillWait.decrementAndGet();
                }
            } else {
                Thread.sleep(300);
            }
        }

        private void meet() throws Exception {
            if (Thread.currentThread() != experiment) {
                allParts.await(2, TimeUnit.MINUTES);
            }
        }
    }
}
