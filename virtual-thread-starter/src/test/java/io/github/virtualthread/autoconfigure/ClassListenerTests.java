package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.config.EnableVirtual;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.ContextRefreshedEvent;

/** The idea of {@code asyncClassListener} in Spring's {@code AsyncExecutionTests}. */
@Timeout(300)
class ClassListenerTests {

    private static final BlockingQueue<Heard> heard = new LinkedBlockingQueue<>();
    private static final AtomicInteger constructed = new AtomicInteger();

    @BeforeEach
    void forget() {
        heard.clear();
        constructed.set(0);
    }

    @Test
    void inSpringBootAListenerThatIsAnnotatedAsAWholeHearsAllEventsOnVirtualThreads() throws InterruptedException {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class))
                .withBean(ClassListener.class)
                .run(context -> assertThat(context).hasNotFailed());

        assertBothWereHeardOnce();
    }

    @Test
    void inPlainSpringTheSame() throws InterruptedException {
        new AnnotationConfigApplicationContext(Plain.class, ClassListener.class).close();

        assertBothWereHeardOnce();
    }

    private static void assertBothWereHeardOnce() throws InterruptedException {
        List<Heard> both = List.of(heard.take(), heard.take());
        assertThat(both)
                .extracting(Heard::event)
                .containsExactlyInAnyOrder(ContextRefreshedEvent.class, ContextClosedEvent.class);
        assertThat(both).extracting(Heard::thread).allMatch(Thread::isVirtual);
        assertThat(heard).isEmpty();
        assertThat(constructed).hasValue(1);
    }

    record Heard(Class<?> event, Thread thread) {}

    @VirtualThread
    static class ClassListener implements ApplicationListener<ApplicationEvent> {

        ClassListener() {
            constructed.incrementAndGet();
        }

        @Override
        public void onApplicationEvent(ApplicationEvent event) {
            heard.add(new Heard(event.getClass(), Thread.currentThread()));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableVirtual
    static class Plain {}
}
