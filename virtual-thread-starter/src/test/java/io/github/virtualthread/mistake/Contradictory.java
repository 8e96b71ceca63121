package io.github.virtualthread.mistake;

import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import org.springframework.core.annotation.AliasFor;
import org.springframework.stereotype.Component;
import org.springframework.web.bind.annotation.RequestMapping;

/** Beans whose annotations contradict themselves, apart from applications of tests that scan their own package. */
public final class Contradictory {

    private Contradictory() {}

    @Component
    public static class OfMethod {

        @VirtualThread(value = "db", limit = "mail")
        public void send(String to) {}
    }

    @Component
    @Limited(value = "db", limit = "mail")
    public static class OfClass {}

    @Component
    public static class OfOwn {

        @OnLimit(value = "db", limit = "mail")
        public void send() {}
    }

    @Component
    public static class OfOthers {

        @RequestMapping(value = "/one", path = "/other")
        public void send() {}
    }

    @Retention(RetentionPolicy.RUNTIME)
    @VirtualThread
    @interface OnLimit {

        @AliasFor(annotation = VirtualThread.class, attribute = "value")
        String value() default "";

        @AliasFor(annotation = VirtualThread.class, attribute = "limit")
        String limit() default "";
    }
}
