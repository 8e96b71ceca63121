package com.acme.shop;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.ObjectFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.Scope;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpSession;
import org.springframework.web.context.annotation.RequestScope;
import org.springframework.web.context.annotation.SessionScope;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/** The object is that of the caller; what the body looks up itself is looked up on the virtual thread. */
@Timeout(300)
@SpringBootTest
@Import({
    ScopeTests.OfRequest.class,
    ScopeTests.OfSession.class,
    ScopeTests.OfTenant.class,
    ScopeTests.Prototype.class,
    ScopeTests.Asking.class
})
class ScopeTests {

    @Autowired
    OfRequest ofRequest;

    @Autowired
    OfSession ofSession;

    @Autowired
    OfTenant ofTenant;

    @Autowired
    ObjectProvider<Prototype> prototypes;

    @Autowired
    Asking asking;

    private final MockHttpSession session = new MockHttpSession();

    @AfterEach
    void leave() {
        RequestContextHolder.resetRequestAttributes();
        TenantScope.TENANT.remove();
    }

    @Test
    void theBodyRunsOnTheObjectOfTheRequestThatCalls() throws Exception {
        request();
        Where first = ofRequest.where().get(120, SECONDS);
        assertThat(first).isEqualTo(new Where(ofRequest.id(), true));

        request();
        Where second = ofRequest.where().get(120, SECONDS);
        assertThat(second).isEqualTo(new Where(ofRequest.id(), true));
        assertThat(second.id()).isNotEqualTo(first.id());
    }

    @Test
    void theBodyRunsOnTheObjectOfTheSessionThatCalls() throws Exception {
        request();
        Where first = ofSession.where().get(120, SECONDS);
        request();
        Where second = ofSession.where().get(120, SECONDS);

        assertThat(first).isEqualTo(new Where(ofSession.id(), true)).isEqualTo(second);
    }

    @Test
    void theBodyRunsOnTheObjectThatACustomScopeGivesItsCaller() throws Exception {
        TenantScope.TENANT.set("acme");
        Where acme = ofTenant.where().get(120, SECONDS);
        assertThat(acme).isEqualTo(new Where(ofTenant.id(), true));

        TenantScope.TENANT.set("other");
        assertThat(ofTenant.where().get(120, SECONDS).id()).isNotEqualTo(acme.id());
    }

    @Test
    void eachPrototypeIsAdvisedForItself() throws Exception {
        Prototype one = prototypes.getObject();
        Prototype other = prototypes.getObject();

        assertThat(one.where().get(120, SECONDS)).isEqualTo(new Where(one.id(), true));
        assertThat(other.where().get(120, SECONDS)).isEqualTo(new Where(other.id(), true));
        assertThat(one.id()).isNotEqualTo(other.id());
    }

    @Test
    void aBodyThatAsksForTheRequestItselfFindsNone() {
        request();

        assertThat(asking.idOfRequest())
                .failsWithin(120, SECONDS)
                .withThrowableThat()
                .withStackTraceContaining("No thread-bound request found");
    }

    private void request() {
        MockHttpServletRequest request = new MockHttpServletRequest();
        request.setSession(session);
        RequestContextHolder.setRequestAttributes(new ServletRequestAttributes(request));
    }

    record Where(UUID id, boolean virtual) {}

    abstract static class Identified {

        private final UUID id = UUID.randomUUID();

        public UUID id() {
            return id;
        }

        @VirtualThread("one")
        public CompletableFuture<Where> where() {
            return completedFuture(new Where(id, Thread.currentThread().isVirtual()));
        }
    }

    @RequestScope
    static class OfRequest extends Identified {}

    @SessionScope
    static class OfSession extends Identified {}

    @org.springframework.context.annotation.Scope(scopeName = "tenant", proxyMode = ScopedProxyMode.TARGET_CLASS)
    static class OfTenant extends Identified {}

    @org.springframework.context.annotation.Scope(BeanDefinition.SCOPE_PROTOTYPE)
    static class Prototype extends Identified {}

    static class Asking {

        private final OfRequest ofRequest;

        Asking(OfRequest ofRequest) {
            this.ofRequest = ofRequest;
        }

        @VirtualThread
        public CompletableFuture<UUID> idOfRequest() {
            return completedFuture(ofRequest.id());
        }
    }

    @TestConfiguration
    static class Tenants {

        @Bean
        static BeanFactoryPostProcessor tenants() {
            return beans -> beans.registerScope("tenant", new TenantScope());
        }
    }

    static class TenantScope implements Scope {

        static final ThreadLocal<String> TENANT = new ThreadLocal<>();

        private final Map<String, Object> objects = new ConcurrentHashMap<>();

        @Override
        public Object get(String name, ObjectFactory<?> factory) {
            String tenant = TENANT.get();
            assertThat(tenant).as("tenant of " + Thread.currentThread()).isNotNull();
            return objects.computeIfAbsent(tenant + "/" + name, key -> factory.getObject());
        }

        @Override
        public Object remove(String name) {
            return objects.remove(TENANT.get() + "/" + name);
        }

        @Override
        public void registerDestructionCallback(String name, Runnable callback) {}

        @Override
        public Object resolveContextualObject(String key) {
            return null;
        }

        @Override
        public String getConversationId() {
            return TENANT.get();
        }
    }
}
