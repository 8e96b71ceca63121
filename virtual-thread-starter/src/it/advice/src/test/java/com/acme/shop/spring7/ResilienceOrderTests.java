package com.acme.shop.spring7;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static org.assertj.core.api.Assertions.assertThat;

import com.acme.shop.ShopTest;
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
import org.springframework.resilience.annotation.ConcurrencyLimit;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.validation.annotation.Validated;

@ShopTest
@Import({ResilienceOrderTests.Ours.class, ResilienceOrderTests.Plain.class, ResilienceOrderTests.First.class})
class ResilienceOrderTests {

    @Autowired
    Ours ours;

    @Autowired
    Plain plain;

    @Test
    void oursIsOutermostAndTheOthersKeepTheirOrder() {
        List<String> others = advice(plain);

        assertThat(others)
                .containsExactly(
                        "ConcurrencyLimitInterceptor",
                        "RetryAnnotationInterceptor",
                        "AspectJMethodBeforeAdvice", // First
                        "ExposeInvocationInterceptor",
                        "AspectJAroundAdvice", // resilience4j
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
    @EnableResilientMethods
    static class Advice {}

    @Aspect
    @Order(Ordered.HIGHEST_PRECEDENCE)
    static class First {

        @Before("execution(* com.acme.shop.spring7.ResilienceOrderTests.*.work(..))")
        void before() {}
    }

    @Validated
    static class Plain {

        @Cacheable("works")
        @CircuitBreaker(name = "works")
        @ConcurrencyLimit(2)
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
        @ConcurrencyLimit(2)
        @Retryable
        @Transactional
        public CompletableFuture<Integer> work(@NotNull String what) {
            return completedFuture(1);
        }
    }
}
