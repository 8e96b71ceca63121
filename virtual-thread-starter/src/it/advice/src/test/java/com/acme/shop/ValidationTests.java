package com.acme.shop;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.TaskLimits;
import jakarta.validation.Constraint;
import jakarta.validation.ConstraintValidator;
import jakarta.validation.ConstraintValidatorContext;
import jakarta.validation.ConstraintViolationException;
import jakarta.validation.Payload;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Import;
import org.springframework.validation.annotation.Validated;

@ShopTest
@Import({ValidationTests.Catalog.class, ValidationTests.Validations.class})
class ValidationTests {

    @Autowired
    Catalog catalog;

    @Autowired
    Validations validations;

    @Autowired
    TaskLimits limits;

    @Autowired
    VirtualThreads threads;

    @Test
    void argumentsAreValidatedOnTheThreadOfTheBody() throws Exception {
        validations.threads.clear();
        Thread body = catalog.add("tea").get(120, SECONDS);

        assertThat(body.isVirtual()).isTrue();
        assertThat(validations.threads).containsExactly(body);
    }

    @Test
    void aViolationComesThroughTheFuture() {
        CompletableFuture<Thread> added = catalog.add("");

        assertThat(added)
                .failsWithin(120, SECONDS)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(ConstraintViolationException.class)
                .withMessageContaining("needs a name");
    }

    @Test
    void aCallWithABadArgumentWaitsForAPermitToo() throws Exception {
        CompletableFuture<Thread> added;
        try (HeldPermit permit = HeldPermit.of(threads, "one")) {
            added = catalog.add("");

            assertThat(added).isNotDone();
            assertThat(limits.get("one").waiting()).isOne();
        }
        assertThat(added).failsWithin(120, SECONDS);
    }

    @Validated
    static class Catalog {

        @VirtualThread("one")
        public CompletableFuture<Thread> add(@Named String name) {
            return completedFuture(Thread.currentThread());
        }
    }

    @Constraint(validatedBy = NamedValidator.class)
    @Retention(RetentionPolicy.RUNTIME)
    @interface Named {

        String message() default "needs a name";

        Class<?>[] groups() default {};

        Class<? extends Payload>[] payload() default {};
    }

    static class Validations {
        final BlockingQueue<Thread> threads = new LinkedBlockingQueue<>();
    }

    static class NamedValidator implements ConstraintValidator<Named, String> {

        private final Validations validations;

        NamedValidator(Validations validations) {
            this.validations = validations;
        }

        @Override
        public boolean isValid(String name, ConstraintValidatorContext context) {
            validations.threads.add(Thread.currentThread());
            return !name.isEmpty();
        }
    }
}
