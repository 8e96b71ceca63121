package tech.jhipster.async;

import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.support.TaskExecutorAdapter;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/** In place of the class of JHipster's framework, which logs what a task throws. */
public class ExceptionHandlingAsyncTaskExecutor extends TaskExecutorAdapter {

    public ExceptionHandlingAsyncTaskExecutor(AsyncTaskExecutor executor) {
        super(executor);
        ((ThreadPoolTaskExecutor) executor).initialize();
    }
}
