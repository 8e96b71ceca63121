package io.github.virtualthread.autoconfigure;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Import;

/** Auto-configuration for executors of Spring that become executors of limits, if a property asks for it. */
@AutoConfiguration(after = {TaskExecutionAutoConfiguration.class, VirtualThreadAutoConfiguration.class})
@Conditional(OnAsync.class)
@Import(AsyncExecutors.class)
public class VirtualThreadAsyncAutoConfiguration {

    /** Created by Spring. */
    public VirtualThreadAsyncAutoConfiguration() {}
}
