package io.github.virtualthread.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadWebFluxAutoConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;

/** A limit or a deadline of web requests fails the start of a reactive application, because it would have no effect. */
@Timeout(300)
class NoDoorForWebFluxTests {

    private final ReactiveWebApplicationContextRunner runner = new ReactiveWebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    VirtualThreadAutoConfiguration.class, VirtualThreadWebFluxAutoConfiguration.class))
            .withPropertyValues("virtual-thread.limits.web.permits=1", "virtual-thread.limits.web.max-wait=2s");

    @ParameterizedTest
    @ValueSource(strings = {"limit=web", "deadline=5s", "deadline-header=X-Timeout"})
    void eachOfThemFailsTheStart(String property) {
        runner.withPropertyValues("virtual-thread.web." + property).run(context -> assertThat(context)
                .getFailure()
                .hasMessageContaining("virtual-thread.web.limit, virtual-thread.web.deadline and"
                        + " virtual-thread.web.deadline-header need a servlet application, but this one is reactive"));
    }

    @Test
    void requestsCannotBeCancelledTwice() {
        runner.withPropertyValues("virtual-thread.web.cancel-abandoned=true").run(context -> assertThat(context)
                .getFailure()
                .hasMessageContaining(
                        "virtual-thread.web.cancel-abandoned needs a servlet application, but this one is reactive")
                .hasMessageNotContaining("virtual-thread.web.limit"));
        runner.withPropertyValues("virtual-thread.web.cancel-abandoned=true", "virtual-thread.web.deadline=5s")
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasMessageContainingAll(
                                "virtual-thread.web.cancel-abandoned needs", "virtual-thread.web.limit, "));
    }

    @Test
    void nothingFailsWithoutThem() {
        runner.run(context -> assertThat(context).hasNotFailed());
        runner.withPropertyValues(
                        "virtual-thread.web.limit=none",
                        "virtual-thread.web.deadline=",
                        "virtual-thread.web.cancel-abandoned=false")
                .run(context -> assertThat(context).hasNotFailed());
        runner.withPropertyValues(
                        "virtual-thread.web.limit=web",
                        "virtual-thread.web.cancel-abandoned=true",
                        "virtual-thread.enabled=false")
                .run(context -> assertThat(context).hasNotFailed());
    }
}
