package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.Limited;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;

@Timeout(300)
class MessageListenerTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class))
            .withPropertyValues("virtual-thread.limits.db.permits=1");

    @Test
    void aListenerTakesItsPermitThoughTheApplicationSwitchesListenersOnItself() {
        runner.withUserConfiguration(EnableOrders.class).run(context -> {
            OrderListenerAnnotationBeanPostProcessor listeners =
                    context.getBean(OrderListenerAnnotationBeanPostProcessor.class);

            assertThat(listeners.receive()).isZero();
            assertThat(context.getBean(TaskLimits.class).get("db").available()).isEqualTo(1);
        });
    }

    /** Like {@code @EnableKafka} and {@code @EnableRabbit}, whose post-processor comes before that of an auto-configuration. */
    @Configuration(proxyBeanMethods = false)
    static class EnableOrders {

        @Bean
        static OrderListenerAnnotationBeanPostProcessor orderListeners() {
            return new OrderListenerAnnotationBeanPostProcessor();
        }

        @Bean
        Orders orders(TaskLimits limits) {
            return new Orders(limits.get("db"));
        }
    }

    static class Orders {

        private final TaskLimit limit;

        Orders(TaskLimit limit) {
            this.limit = limit;
        }

        @Limited("db")
        public int onOrder() {
            return limit.available();
        }
    }

    /** Calls the bean that it has been given, and has the order of Kafka's and Rabbit's. */
    static class OrderListenerAnnotationBeanPostProcessor implements BeanPostProcessor, Ordered {

        private @Nullable Orders listener;

        @Override
        public Object postProcessAfterInitialization(Object bean, String beanName) {
            if (bean instanceof Orders orders) {
                listener = orders;
            }
            return bean;
        }

        int receive() {
            return listener == null ? -1 : listener.onOrder();
        }

        @Override
        public int getOrder() {
            return LOWEST_PRECEDENCE;
        }
    }
}
