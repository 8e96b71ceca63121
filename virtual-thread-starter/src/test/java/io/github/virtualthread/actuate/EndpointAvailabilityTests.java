package io.github.virtualthread.actuate;

import static io.github.virtualthread.actuate.EndpointApplication.exposed;
import static io.github.virtualthread.actuate.EndpointApplication.open;
import static io.github.virtualthread.actuate.EndpointApplication.run;
import static io.github.virtualthread.actuate.EndpointApplication.runner;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.LIST;
import static org.assertj.core.api.InstanceOfAssertFactories.MAP;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.actuate.VirtualThreadsEndpoint.MethodDescriptor;
import io.github.virtualthread.autoconfigure.VirtualThreadActuatorAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.config.EnableVirtual;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitSettings;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import javax.management.MBeanException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.jmx.JmxEndpointAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.jmx.JmxAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

/** Where the endpoint is there, and for whom. */
@Timeout(300)
class EndpointAvailabilityTests {

    @Test
    void nothingIsExposedByDefault() {
        run(runner(), it -> assertThat(it.read("").status()).isEqualTo(404));
        runner().run(context -> assertThat(context)
                .doesNotHaveBean(VirtualThreadsEndpoint.class)
                .doesNotHaveBean(WebRequests.class)
                .doesNotHaveBean(CallCounts.class));
    }

    @Test
    void itCanBeExposedByItsName() {
        run(
                runner().withPropertyValues("management.endpoints.web.exposure.include=virtualthreads"),
                it -> assertThat(it.read("").status()).isEqualTo(200));
    }

    @Test
    void accessCanBeNone() {
        run(
                exposed().withPropertyValues("management.endpoint.virtualthreads.access=none"),
                it -> assertThat(it.read("").status()).isEqualTo(404));
    }

    @Test
    void theEndpointDoesNotNeedTheRestOfTheStarter() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(VirtualThreadActuatorAutoConfiguration.class))
                .withPropertyValues("management.endpoints.web.exposure.include=*")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(VirtualThreadsEndpoint.class));
    }

    @Test
    void jmxShowsAndChangesTheSame() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        VirtualThreadAutoConfiguration.class,
                        VirtualThreadActuatorAutoConfiguration.class,
                        EndpointAutoConfiguration.class,
                        JmxAutoConfiguration.class,
                        JmxEndpointAutoConfiguration.class))
                .withInitializer(EndpointApplication::readAsAnApplication)
                .withBean(LimitSettings.class, () -> LimitSettings.of("mail", 1))
                .withPropertyValues(
                        "spring.jmx.enabled=true",
                        "management.endpoints.jmx.exposure.include=*",
                        "spring.jmx.unique-names=true",
                        "management.endpoint.virtualthreads.access=unrestricted")
                .run(context -> {
                    assertThat(jmx("overview", new Object[0]))
                            .asInstanceOf(MAP)
                            .extractingByKey("limits")
                            .asInstanceOf(LIST)
                            .hasSize(1);
                    assertThat(jmx("limit", "MAIL", null, null))
                            .asInstanceOf(MAP)
                            .containsEntry("calls", List.of());
                    assertThat(jmx("change", "mail", "3", null, null))
                            .asInstanceOf(MAP)
                            .containsEntry("permits", 3);
                    assertThatThrownBy(() -> jmx("change", "mail", "0", null, null))
                            .isInstanceOf(MBeanException.class)
                            .cause()
                            .hasMessageContaining("permits must be a whole number from 1 to 2147483647, was '0'");
                    assertThat(jmx("end", "mail", null, "true"))
                            .asInstanceOf(MAP)
                            .containsEntry("rejected", 0);
                });
    }

    private static Object jmx(String operation, Object... arguments) throws Exception {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName name = server.queryNames(
                        new ObjectName("org.springframework.boot:type=Endpoint,name=Virtualthreads,*"), null)
                .iterator()
                .next();
        String[] signature = new String[arguments.length];
        Arrays.fill(signature, String.class.getName());
        return server.invoke(name, operation, arguments, signature);
    }

    @Test
    void methodsOfAChildContextAreShownToo() {
        open().run(parent -> {
            try (var child = new AnnotationConfigApplicationContext()) {
                child.setParent(parent);
                child.register(Child.class);
                child.refresh();

                assertThat(parent.getBean(VirtualThreadsEndpoint.class)
                                .overview()
                                .methods())
                        .extracting(MethodDescriptor::name)
                        .containsExactly("Child.send", "Shop.mail", "Shop.price", "Shop.stock");
            }
        });
    }

    @Test
    void theEndpointOfAChildContextCountsWhatTheEngineOfItsParentRuns() {
        open().run(parent -> open().withParent(parent).run(child -> {
            child.getBean(VirtualThreads.class).submit("price-db", () -> 1).join();

            assertThat(child.getBean(VirtualThreadsEndpoint.class).overview().methods())
                    .extracting(MethodDescriptor::done)
                    .contains(1L);
        }));
    }

    @EnableVirtual
    static class Child {

        @VirtualThread("price-db")
        public void send() {}
    }
}
