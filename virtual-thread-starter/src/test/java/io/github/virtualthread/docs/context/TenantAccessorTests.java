package io.github.virtualthread.docs.context;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.micrometer.context.ContextRegistry;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** The accessor of context.md brings the tenant of the caller to the virtual thread. */
@Timeout(300)
class TenantAccessorTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class))
            .withBean(Tenants.class);

    @Test
    void aThreadLocalWithAnAccessorTravels() {
        ContextRegistry.getInstance().registerThreadLocalAccessor(new TenantAccessor());
        try {
            TenantAccessor.TENANT.set("north");
            runner.run(context -> assertThat(context.getBean(Tenants.class).current())
                    .succeedsWithin(Duration.ofMinutes(2))
                    .isEqualTo("north"));
        } finally {
            TenantAccessor.TENANT.remove();
            ContextRegistry.getInstance().removeThreadLocalAccessor("tenant");
        }
    }

    static class Tenants {

        @VirtualThread
        public CompletableFuture<String> current() {
            return CompletableFuture.completedFuture(TenantAccessor.TENANT.get());
        }
    }
}
