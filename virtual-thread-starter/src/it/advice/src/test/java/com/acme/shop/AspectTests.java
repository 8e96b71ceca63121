package com.acme.shop;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.CompletableFuture.failedFuture;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.aspectj.lang.JoinPoint;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.AfterThrowing;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.annotation.Before;
import org.aspectj.lang.reflect.MethodSignature;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Import;

@ShopTest
@Import({AspectTests.Mailer.class, AspectTests.Audit.class})
class AspectTests {

    @Autowired
    Mailer mailer;

    @Autowired
    Audit audit;

    @BeforeEach
    void empty() {
        audit.notes.clear();
    }

    @Test
    void beforeSeesMethodArgumentsAndTargetOnTheThreadOfTheBody() throws Exception {
        Sent sent = mailer.send("bob", 0).get(120, SECONDS);

        assertThat(sent.thread().isVirtual()).isTrue();
        assertThat(audit.notes).contains(new Note("before Mailer.send[BOB, 0]", sent.thread()));
    }

    @Test
    void aroundProceedsWithArgumentsOfItsOwnOnTheThreadOfTheBody() throws Exception {
        Sent sent = mailer.send("bob", 0).get(120, SECONDS);

        assertThat(sent.to()).isEqualTo("BOB");
        assertThat(audit.notes).contains(new Note("around returning CompletableFuture", sent.thread()));
    }

    @Test
    void afterThrowingSeesTheExceptionOfTheBodyOnItsThread() {
        assertThat(mailer.fail(true)).failsWithin(120, SECONDS);

        assertThat(audit.notes).singleElement().satisfies(note -> {
            assertThat(note.what()).isEqualTo("fail threw no such address");
            assertThat(note.thread().getName()).startsWith("vt-Mailer.fail-");
        });
    }

    /** An aspect's rule: to return is not to throw. */
    @Test
    void afterThrowingDoesNotSeeAReturnedFutureThatHasFailed() {
        assertThat(mailer.fail(false)).failsWithin(120, SECONDS);

        assertThat(audit.notes).isEmpty();
    }

    record Note(String what, Thread thread) {}

    record Sent(String to, Thread thread) {}

    static class Mailer {

        @VirtualThread
        public CompletableFuture<Sent> send(String to, int copies) {
            return completedFuture(new Sent(to, Thread.currentThread()));
        }

        @VirtualThread
        public CompletableFuture<Sent> fail(boolean throwing) {
            IllegalStateException failure = new IllegalStateException("no such address");
            if (throwing) {
                throw failure;
            }
            return failedFuture(failure);
        }
    }

    @Aspect
    static class Audit {

        final List<Note> notes = new CopyOnWriteArrayList<>();

        @Before("execution(* com.acme.shop.AspectTests.Mailer.send(..)) && target(mailer)")
        void before(JoinPoint joinPoint, Mailer mailer) {
            assertThat(mailer).isSameAs(joinPoint.getTarget());
            note("before %s.%s%s"
                    .formatted(
                            joinPoint.getTarget().getClass().getSimpleName(),
                            joinPoint.getSignature().getName(),
                            List.of(joinPoint.getArgs())));
        }

        @Around("execution(* com.acme.shop.AspectTests.Mailer.send(..)) && args(to, copies)")
        Object around(ProceedingJoinPoint joinPoint, String to, int copies) throws Throwable {
            MethodSignature signature = (MethodSignature) joinPoint.getSignature();
            note("around returning " + signature.getReturnType().getSimpleName());
            return joinPoint.proceed(new Object[] {to.toUpperCase(), copies});
        }

        @AfterThrowing(pointcut = "execution(* com.acme.shop.AspectTests.Mailer.*(..))", throwing = "failure")
        void failed(JoinPoint joinPoint, IllegalStateException failure) {
            note(joinPoint.getSignature().getName() + " threw " + failure.getMessage());
        }

        private void note(String what) {
            notes.add(new Note(what, Thread.currentThread()));
        }
    }
}
