package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

class TaskNamesTests {

    @Test
    void aClassOfItsOwnGivesItsName() {
        assertThat(VirtualThreads.taskName(new Import(), "call")).isEqualTo("Import.call");
    }

    @Test
    void aLambdaIsNamedAfterTheClassItStandsIn() {
        Callable<String> lambda = () -> "";
        Callable<String> reference = this::toString;

        assertThat(VirtualThreads.taskName(lambda, "call")).isEqualTo("TaskNamesTests.lambda");
        assertThat(VirtualThreads.taskName(reference, "call")).isEqualTo("TaskNamesTests.lambda");
        assertThat(VirtualThreads.taskName(Import.lambda(), "call")).isEqualTo("Import.lambda");
    }

    @Test
    void aClassWithoutANameIsNamedAfterTheOneAroundIt() {
        Runnable anonymous = new Runnable() {
            @Override
            public void run() {}
        };
        class Local implements Runnable {
            @Override
            public void run() {}
        }

        assertThat(VirtualThreads.taskName(anonymous, "run")).isEqualTo("TaskNamesTests.run");
        assertThat(VirtualThreads.taskName(new Local(), "run")).isEqualTo("Local.run");
    }

    static class Import implements Callable<String> {

        @Override
        public String call() {
            return "";
        }

        static Callable<String> lambda() {
            return () -> "";
        }
    }
}
