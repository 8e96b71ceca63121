package io.github.virtualthread.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which frames of a body are shown. The stacks are made up, and the innermost frame comes first. */
class StackExcerptTests {

    private final List<StackTraceElement> stack = new ArrayList<>();

    @Test
    void theInnermostFramesAndThoseOfTheApplicationAreShown() {
        jdk("sun.nio.ch.NioSocketImpl", "park", 1);
        jdk("java.net.Socket$SocketInputStream", "read", 2);
        code("org.postgresql.core.VisibleBufferedInputStream", "read", 1);
        code("org.postgresql.core.v3.QueryExecutorImpl", "execute", 30);
        code("com.zaxxer.hikari.pool.HikariProxyPreparedStatement", "executeQuery", 1);
        code("org.springframework.jdbc.core.JdbcTemplate", "query", 4);
        bean("com.acme.Prices", "find");
        code("com.acme.Catalog", "lambda$page$0", 1);
        jdk("java.util.stream.ReferencePipeline", "collect", 9);
        bean("com.acme.Catalog", "page");
        bean("com.acme.Shop", "price");
        engine();

        assertThat(shown())
                .containsExactly(
                        "1 java.base/sun.nio.ch.NioSocketImpl.park",
                        "2 java.base/java.net.Socket$SocketInputStream.read",
                        "1 org.postgresql.core.VisibleBufferedInputStream.read",
                        "4 org.postgresql.core.v3.QueryExecutorImpl.execute",
                        "... 23 frames ...",
                        "3 org.postgresql.core.v3.QueryExecutorImpl.execute",
                        "1 com.zaxxer.hikari.pool.HikariProxyPreparedStatement.executeQuery",
                        "4 org.springframework.jdbc.core.JdbcTemplate.query",
                        "1 com.acme.Prices.find",
                        "... 14 frames ...",
                        "1 com.acme.Catalog.lambda$page$0",
                        "... 9 frames ...",
                        "1 com.acme.Catalog.page",
                        "... 14 frames ...",
                        "1 com.acme.Shop.price");
    }

    @Test
    void aShortStackIsShownAsItIs() {
        jdk("java.lang.Thread", "sleep", 1);
        code("com.acme.Prices", "find", 1);
        jdk("java.util.ArrayList", "forEach", 1);
        bean("com.acme.Shop", "price");
        engine();

        assertThat(shown())
                .containsExactly(
                        "1 java.base/java.lang.Thread.sleep",
                        "1 com.acme.Prices.find",
                        "1 java.base/java.util.ArrayList.forEach",
                        "1 com.acme.Shop.price");
    }

    @Test
    void aBodyOfTheJdkAloneIsShownToo() {
        jdk("java.lang.Thread", "sleep", 5);
        engine();

        assertThat(shown()).contains("5 java.base/java.lang.Thread.sleep");
        stack.clear();
        assertThat(shown()).isEmpty();
    }

    @Test
    void whatIsBelowABodyOnItsCallersThreadIsNotShown() {
        bean("com.acme.Prices", "find");
        engine();
        code("com.acme.PriceController", "price", 1);
        code("org.apache.catalina.core.StandardWrapperValve", "invoke", 40);

        assertThat(shown()).containsExactly("1 com.acme.Prices.find");
    }

    @Test
    void aBodyWithinABodyIsShownTogetherWithIt() {
        bean("com.acme.Prices", "find");
        engine();
        bean("com.acme.Shop", "price");
        engine();

        assertThat(shown()).contains("1 com.acme.Prices.find", "1 com.acme.Shop.price");
    }

    /** What operating.md tells its readers to look for must not be among the frames that are left out. */
    @Test
    void aDeepBodyThatWaitsForAConnectionShowsWhatThePageNames() throws Exception {
        try (HikariDataSource pool = new HikariDataSource()) {
            pool.setJdbcUrl("jdbc:h2:mem:stack-excerpt");
            pool.setMaximumPoolSize(1);
            Connection held = pool.getConnection();
            Thread body = Thread.ofVirtual().start(() -> borrow(pool, 30));
            while (body.getState() != Thread.State.TIMED_WAITING) {
                Thread.onSpinWait();
            }

            List<String> shown = StackExcerpt.of(body.getStackTrace());

            held.close();
            body.join();
            assertThat(shown).anyMatch(frame -> frame.contains("ConcurrentBag.borrow"));
            assertThat(shown).anyMatch(frame -> frame.matches("\\.\\.\\. \\d+ frames \\.\\.\\."));
            assertThat(Files.readString(Path.of("..", "docs", "operating.md")))
                    .contains("| `ConcurrentBag.borrow`, of HikariCP |");
        }
    }

    private static void borrow(HikariDataSource pool, int depth) {
        if (depth > 0) {
            borrow(pool, depth - 1);
            return;
        }
        try {
            pool.getConnection().close();
        } catch (SQLException failed) {
            throw new IllegalStateException(failed);
        }
    }

    private void jdk(String type, String method, int times) {
        frames(new StackTraceElement(null, "java.base", "25", type, method, "Source.java", 1), times);
    }

    private void code(String type, String method, int times) {
        frames(new StackTraceElement(type, method, "Source.java", 1), times);
    }

    /** A method of a bean with two advices around it. */
    private void bean(String type, String method) {
        code(type, method, 1);
        jdk("jdk.internal.reflect.DirectMethodHandleAccessor", "invoke", 1);
        jdk("java.lang.reflect.Method", "invoke", 1);
        code("org.springframework.aop.support.AopUtils", "invokeJoinpointUsingReflection", 1);
        code("org.springframework.aop.framework.ReflectiveMethodInvocation", "proceed", 3);
        code("org.springframework.transaction.interceptor.TransactionAspectSupport", "invokeWithinTransaction", 3);
        code("org.springframework.aop.framework.CglibAopProxy$DynamicAdvisedInterceptor", "intercept", 4);
        code(type + "$$SpringCGLIB$$0", method, 1);
    }

    private void engine() {
        code("io.github.virtualthread.aop.VirtualThreadInterceptor", "invoke", 2);
        code("io.github.virtualthread.execution.Task", "run", 2);
        jdk("java.lang.VirtualThread", "run", 1);
    }

    private void frames(StackTraceElement frame, int times) {
        for (int i = 0; i < times; i++) {
            stack.add(frame);
        }
    }

    /** Frames that follow each other and are the same are counted. */
    private List<String> shown() {
        List<String> counted = new ArrayList<>();
        String last = "";
        int times = 0;
        List<String> frames = new ArrayList<>(StackExcerpt.of(stack.toArray(StackTraceElement[]::new)));
        frames.add("");
        for (String frame : frames) {
            if (!frame.equals(last) && times > 0) {
                counted.add(
                        last.startsWith("...")
                                ? last
                                : times + " " + last.replaceFirst("\\(.*", "").replace("@25", ""));
                times = 0;
            }
            last = frame;
            times++;
        }
        return counted;
    }
}
