package com.acme.shop;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.resilience4j.circuitbreaker.annotation.CircuitBreaker;
import io.github.virtualthread.VirtualThread;
import jakarta.validation.constraints.NotNull;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.annotation.Before;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.Advised;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.retry.annotation.EnableRetry;
import org.springframework.retry.annotation.Retryable;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.validation.annotation.Validated;

@ShopTest
@Import({OrderTests.Ours.class, OrderTests.Plain.class, OrderTests.First.class})
class OrderTests {

    @Autowired
    Ours ours;

    @Autowired
    Plain plain;

    @Test
    void oursIsOutermostAndTheOthersKeepTheirOrder() {
        List<String> others = advice(plain);

        assertThat(others)
                .containsExactly(
                        "AspectJMethodBeforeAdvice", // First
                        "ExposeInvocationInterceptor",
                        "AspectJAroundAdvice", // resilience4j
                        "AnnotationAwareRetryOperationsInterceptor",
                        "CacheInterceptor",
                        "TransactionInterceptor",
                        "MethodValidationInterceptor");
        assertThat(advice(ours)).startsWith("VirtualThreadInterceptor").endsWith(others.toArray(String[]::new));
        assertThat(advice(ours)).hasSize(others.size() + 1);
    }

    private static List<String> advice(Object bean) {
        return Arrays.stream(((Advised) bean).getAdvisors())
                .map(advisor -> advisor.getAdvice().getClass().getSimpleName())
                .toList();
    }

    @TestConfiguration
    @EnableCaching
    @EnableRetry
    static class Advice {}

    @Aspect
    @Order(Ordered.HIGHEST_PRECEDENCE)
    static class First {

        @Before("execution(* com.acme.shop.OrderTests.*.work(..))")
        void before() {}
    }

    @Validated
    static class Plain {

        @Cacheable("works")
        @CircuitBreaker(name = "works")
        @Retryable
        @Transactional
        public CompletableFuture<Integer> work(@NotNull String what) {
            return completedFuture(1);
        }
    }

    @Validated
    static class Ours {

        @VirtualThread
        @Cacheable("works")
        @CircuitBreaker(name = "works")
        @Retryable
        @Transactional
        public CompletableFuture<Integer> work(@NotNull String what) {
            return completedFuture(1);
        }
    }
}
