package io.github.virtualthread.aop;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AspectJRuntimeTests {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-javaagent:aspectjweaver.jar",
                "-javaagent:/opt/agents/aspectjweaver-1.9.25.1.jar",
                "-javaagent:C:\\agents\\aspectjweaver.jar=key=value"
            })
    void theAgentIsToldByTheNameOfItsJar(String argument) {
        assertThat(AspectJRuntime.isAgent(argument)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-javaagent:/home/aspectj/metrics.jar",
                "-javaagent:metrics.jar=aspectjweaver.jar",
                "-Dagent=aspectjweaver.jar",
                "-Xmx1g"
            })
    void otherAgentsAndOptionsAreNot(String argument) {
        assertThat(AspectJRuntime.isAgent(argument)).isFalse();
    }
}
