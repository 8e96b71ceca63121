package io.github.virtualthread.docs.weaving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.docs.Pages;
import io.github.virtualthread.docs.Pages.Block;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

@Timeout(300)
class WeavingPageTests {

    static Stream<Block> xmlBlocks() {
        return Pages.blocks("xml").filter(block -> block.where().startsWith("docs/weaving.md"));
    }

    @ParameterizedTest
    @MethodSource("xmlBlocks")
    void whatThePageTellsToConfigureIsWhatTheApplicationsOfTheBuildHave(Block block) {
        assertThat(block.directive()).isEqualTo("excerpt");
        assertThat(withoutVersions(Pages.lines(Pages.ROOT.resolve(block.argument())).stream()))
                .contains(withoutVersions(block.text().lines()));
    }

    private static String withoutVersions(Stream<String> lines) {
        return Pages.normalized(String.join(
                "\n", lines.filter(line -> !line.contains("<version>")).toList()));
    }

    @Test
    void aBeanThatAsksForItsProxyHops() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class))
                .withPropertyValues("virtual-thread.limits.mail.permits=1", "virtual-thread.self-invocation=fail")
                .withBean(Newsletter.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context.getBean(Newsletter.class).sendAll(List.of("alice", "bob")).stream()
                                    .map(CompletableFuture::join))
                            .containsExactly(true, true);
                });
    }
}
