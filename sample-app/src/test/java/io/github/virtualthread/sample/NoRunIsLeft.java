package io.github.virtualthread.sample;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.sample.lab.Lab;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.test.context.junit.jupiter.SpringExtension;

/** Ends the run of a test that has failed before its end: one at a time is allowed, and the next tests would fail too. */
final class NoRunIsLeft implements AfterEachCallback {

    @Override
    public void afterEach(ExtensionContext test) {
        Lab lab = SpringExtension.getApplicationContext(test).getBean(Lab.class);
        lab.running().ifPresent(run -> {
            run.cancel();
            assertThat(run.answer().handle((answer, failure) -> true)).succeedsWithin(2, TimeUnit.MINUTES);
        });
    }
}
