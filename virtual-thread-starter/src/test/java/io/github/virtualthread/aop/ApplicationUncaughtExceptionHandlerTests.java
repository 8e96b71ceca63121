package io.github.virtualthread.aop;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.scheduling.annotation.AsyncConfigurer;

class ApplicationUncaughtExceptionHandlerTests {

    private final DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
    private final ApplicationUncaughtExceptionHandler handler = new ApplicationUncaughtExceptionHandler(beans);
    private final List<String> told = new ArrayList<>();

    @Test
    void theHandlerBeanComesFirst() throws Exception {
        register("handler");
        registerConfigurer("configurer", teller("of configurer"));

        fail();

        assertThat(told).containsExactly("handler");
    }

    @Test
    void thenTheOneOfTheAsyncConfigurer() throws Exception {
        registerConfigurer("configurer", teller("of configurer"));

        fail();

        assertThat(told).containsExactly("of configurer");
    }

    @Test
    void otherwiseTheLogAtErrorNamesTheMethod() throws Exception {
        registerConfigurer("configurer", null);
        try (Logs logs = new Logs()) {
            fail();

            assertThat(logs.messages(Level.ERROR)).singleElement().asString().contains("Runnable.run");
            assertThat(logs.events().get(0).getThrowableProxy().getMessage()).isEqualTo("broken");
        }
    }

    @Test
    void severalCandidatesCountAsNone() throws Exception {
        register("one");
        register("two");
        try (Logs logs = new Logs()) {
            fail();

            assertThat(told).isEmpty();
            assertThat(logs.messages(Level.ERROR)).hasSize(1);
        }
    }

    @Test
    void aHandlerThatCannotBeCreatedLosesNoFailure() throws Exception {
        beans.registerBeanDefinition("handler", new RootBeanDefinition(AsyncUncaughtExceptionHandler.class, () -> {
            throw new IllegalStateException("no handler");
        }));
        try (Logs logs = new Logs()) {
            fail();

            assertThat(logs.messages(Level.ERROR)).hasSize(2).last().asString().contains("Runnable.run");
        }
    }

    @Test
    void theApplicationsHandlerIsLookedForAtTheFirstFailureAndNotAgain() throws Exception {
        beans.registerBeanDefinition("handler", new RootBeanDefinition(AsyncUncaughtExceptionHandler.class, () -> {
            told.add("created");
            return teller("handler");
        }));
        beans.getBeanDefinition("handler").setScope("prototype");
        assertThat(told).isEmpty();

        fail();
        fail();

        assertThat(told).containsExactly("created", "handler", "handler");
    }

    private void fail() throws NoSuchMethodException {
        Method method = Runnable.class.getMethod("run");
        handler.handleUncaughtException(new IllegalStateException("broken"), method);
    }

    private AsyncUncaughtExceptionHandler teller(String name) {
        return (failure, method, params) -> told.add(name);
    }

    private void register(String name) {
        beans.registerSingleton(name, teller(name));
    }

    private void registerConfigurer(String name, AsyncUncaughtExceptionHandler own) {
        beans.registerSingleton(name, new AsyncConfigurer() {
            @Override
            public AsyncUncaughtExceptionHandler getAsyncUncaughtExceptionHandler() {
                return own;
            }
        });
    }
}
