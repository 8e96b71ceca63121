package io.github.virtualthread.aop;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import java.lang.reflect.Method;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.SmartFactoryBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.SmartInstantiationAwareBeanPostProcessor;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationContextAware;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.Lifecycle;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.SmartApplicationListener;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.convert.converter.Converter;
import org.springframework.samples.clinic.Visits;
import org.springframework.scheduling.annotation.SchedulingConfiguration;

/** Which methods the annotation of a class covers. */
class AnnotatedClassesTests extends FoundMethods {

    @Test
    void aClassCoversItsPublicInstanceMethodsOnly() {
        assertThat(names(Covered.class)).containsExactly("run");
    }

    @VirtualThread
    static class Covered {
        public void run() {}

        protected void inherited() {}

        void near() {}

        private void own() {}

        public static void fixed() {}

        @Override
        public String toString() {
            return "";
        }

        @Override
        public boolean equals(Object other) {
            return this == other;
        }

        @Override
        public int hashCode() {
            return 1;
        }
    }

    @Test
    void aClassDoesNotCoverLifeCycleCallbacksOfSpring() {
        assertThat(names(LifeCycle.class)).containsExactly("run");
        assertThat(names(PostProcessor.class)).containsExactly("run");
        assertThat(names(Factory.class)).containsExactly("run");
    }

    @VirtualThread
    static class LifeCycle
            implements ApplicationContextAware,
                    InitializingBean,
                    DisposableBean,
                    SmartInitializingSingleton,
                    SmartLifecycle,
                    PriorityOrdered,
                    Runnable {
        @Override
        public void setApplicationContext(ApplicationContext context) {}

        @Override
        public void afterPropertiesSet() {}

        @Override
        public void destroy() {}

        @Override
        public void afterSingletonsInstantiated() {}

        @Override
        public void start() {}

        @Override
        public void stop() {}

        @Override
        public void stop(Runnable callback) {}

        @Override
        public boolean isRunning() {
            return true;
        }

        @Override
        public int getPhase() {
            return 1;
        }

        @Override
        public int getOrder() {
            return 1;
        }

        @Override
        public void run() {}
    }

    @VirtualThread
    static class PostProcessor
            implements BeanDefinitionRegistryPostProcessor, SmartInstantiationAwareBeanPostProcessor, Runnable {
        @Override
        public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {}

        @Override
        public void postProcessBeanFactory(ConfigurableListableBeanFactory factory) {}

        @Override
        public Object postProcessBeforeInitialization(Object bean, String name) {
            return bean;
        }

        @Override
        public Object getEarlyBeanReference(Object bean, String name) {
            return bean;
        }

        @Override
        public void run() {}
    }

    @VirtualThread
    static class Factory implements SmartFactoryBean<String>, Runnable {
        @Override
        public String getObject() {
            return "";
        }

        @Override
        public Class<?> getObjectType() {
            return String.class;
        }

        @Override
        public boolean isPrototype() {
            return false;
        }

        @Override
        public void run() {}
    }

    @Test
    void aClassDoesNotCoverMethodsThatSpringCallsAsTheBeanBeginsAndEnds() {
        assertThat(names(BeginAndEnd.class)).containsExactly("run");
        assertThat(names(BeginAndEndAgain.class)).containsExactly("run");
    }

    @VirtualThread
    static class BeginAndEnd {
        @PostConstruct
        public void begin() {}

        @PreDestroy
        public void end() {}

        public void run() {}
    }

    @VirtualThread
    static class BeginAndEndAgain extends BeginAndEnd {
        @Override
        public void begin() {}
    }

    @Test
    void aClassCoversWhatImplementsAnyOtherInterfaceOfSpring() throws NoSuchMethodException {
        assertThat(names(Listener.class)).containsExactly("onApplicationEvent", "supportsEventType");
        assertThat(names(ToNumber.class)).containsExactly("convert");

        Method declared = ApplicationListener.class.getMethod("onApplicationEvent", ApplicationEvent.class);
        assertThat(methods.find(declared, Listener.class)).isSameAs(find(Listener.class, "onApplicationEvent"));
    }

    @VirtualThread
    static class Listener implements SmartApplicationListener {
        @Override
        public boolean supportsEventType(Class<? extends ApplicationEvent> type) {
            return true;
        }

        @Override
        public void onApplicationEvent(ApplicationEvent event) {}

        @Override
        public int getOrder() {
            return 1;
        }
    }

    @Limited("db")
    static class ToNumber implements Converter<String, Integer> {
        @Override
        public Integer convert(String text) {
            return 1;
        }
    }

    @Test
    void aClassCoversWhatAnInterfaceOfTheApplicationAddsToACallbackOfSpring() {
        assertThat(names(Pumping.class)).containsExactly("pump");
    }

    interface Pump extends Lifecycle {
        void pump();
    }

    @VirtualThread
    static class Pumping implements Pump {
        @Override
        public void pump() {}

        @Override
        public void start() {}

        @Override
        public void stop() {}

        @Override
        public boolean isRunning() {
            return true;
        }
    }

    @Test
    void theSamplesOfSpringAreApplications() {
        Visits visits = () -> {};
        assertThat(names(visits.getClass())).containsExactly("book");
    }

    @Test
    void anAnnotationOfSpringIsFoundOnSpringsOwnTypesToo() {
        assertThat(new AnnotatedMethods(Bean.class).in(SchedulingConfiguration.class))
                .hasSize(1);
        assertThat(methods.in(SchedulingConfiguration.class)).isEmpty();
    }

    @Test
    void aCallbackOfSpringThatIsAnnotatedItselfIsMeant() {
        assertThat(names(AnnotatedCallback.class)).containsExactly("setApplicationContext");
    }

    static class AnnotatedCallback implements ApplicationContextAware {
        @Override
        @VirtualThread
        public void setApplicationContext(ApplicationContext context) {}
    }

    @Test
    void aSuperclassCoversWhatItDeclaresWhoeverOverridesIt() {
        assertThat(names(Sub.class)).containsExactly("inherited", "overridden");
    }

    @Test
    void aClassDoesNotCoverMethodsThatItInheritsUnchanged() {
        assertThat(names(Heir.class)).containsExactly("added", "changed");
    }

    static class Ancestor {
        public void kept() {}

        public void changed() {}
    }

    @VirtualThread
    static class Heir extends Ancestor {
        @Override
        public void changed() {}

        public void added() {}
    }

    @Test
    void theNearestAnnotatedClassWins() {
        assertThat(limit(SubWithOwn.class, "inherited")).isEqualTo("base");
        assertThat(limit(SubWithOwn.class, "overridden")).isEqualTo("sub");
    }

    @VirtualThread("sub")
    static class SubWithOwn extends Base {
        @Override
        public void overridden() {}
    }
}
