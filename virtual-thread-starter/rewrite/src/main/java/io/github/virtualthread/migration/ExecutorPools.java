package io.github.virtualthread.migration;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.openrewrite.ExecutionContext;
import org.openrewrite.java.JavaIsoVisitor;
import org.openrewrite.java.tree.Expression;
import org.openrewrite.java.tree.J;
import org.openrewrite.java.tree.TypeTree;
import org.openrewrite.java.tree.TypeUtils;

/** Reads the pools that methods of a class create, with the numbers that are written out. */
final class ExecutorPools extends JavaIsoVisitor<ExecutionContext> {

    /** Of the executor that an {@code AsyncConfigurer} returns, which is not a bean. */
    static final String OF_CONFIGURER = "";

    private static final String BEAN = "org.springframework.context.annotation.Bean";

    private static final Map<String, String> NUMBERS = Map.of(
            "setCorePoolSize", "core",
            "corePoolSize", "core",
            "newFixedThreadPool", "core",
            "setConcurrencyLimit", "core",
            "concurrencyLimit", "core",
            "setMaxPoolSize", "max",
            "maxPoolSize", "max",
            "setQueueCapacity", "queue",
            "queueCapacity", "queue");

    private final Map<String, Pool> pools;

    ExecutorPools(Map<String, Pool> pools) {
        this.pools = pools;
    }

    @Override
    public J.MethodDeclaration visitMethodDeclaration(J.MethodDeclaration method, ExecutionContext context) {
        J.Annotation bean = AsyncAnnotations.find(method.getLeadingAnnotations(), BEAN);
        TypeTree returned = method.getReturnTypeExpression();
        if (returned != null && TypeUtils.isAssignableTo("java.util.concurrent.Executor", returned.getType())) {
            List<Expression> arguments = bean == null ? List.of() : arguments(bean);
            if (bean != null) {
                Pool pool = pool(method, arguments.stream().noneMatch(ExecutorPools::isNoCandidate));
                List<String> names =
                        arguments.stream().flatMap(ExecutorPools::names).toList();
                (names.isEmpty() ? List.of(method.getSimpleName()) : names).forEach(name -> pools.put(name, pool));
            } else if (method.getSimpleName().equals("getAsyncExecutor")) {
                pools.put(OF_CONFIGURER, pool(method, true));
            }
        }
        return method;
    }

    private static List<Expression> arguments(J.Annotation annotation) {
        List<Expression> arguments = annotation.getArguments();
        return arguments == null ? List.of() : arguments;
    }

    /** Whether a bean that nobody names is not looked for here: {@code defaultCandidate = false}, {@code autowireCandidate = false}. */
    private static boolean isNoCandidate(Expression argument) {
        return argument instanceof J.Assignment attribute
                && attribute.getVariable().toString().endsWith("Candidate")
                && attribute.getAssignment() instanceof J.Literal literal
                && Boolean.FALSE.equals(literal.getValue());
    }

    private static Stream<String> names(Expression argument) {
        if (argument instanceof J.Assignment attribute) {
            String name = attribute.getVariable().toString();
            return name.equals("value") || name.equals("name") ? names(attribute.getAssignment()) : Stream.empty();
        }
        if (argument instanceof J.NewArray array && array.getInitializer() != null) {
            return array.getInitializer().stream().flatMap(ExecutorPools::names);
        }
        return argument instanceof J.Literal literal && literal.getValue() instanceof String name
                ? Stream.of(name)
                : Stream.empty();
    }

    private static Pool pool(J.MethodDeclaration method, boolean candidate) {
        Map<String, String> numbers = new HashMap<>();
        new JavaIsoVisitor<Map<String, String>>() {
            @Override
            public J.MethodInvocation visitMethodInvocation(J.MethodInvocation call, Map<String, String> found) {
                String number = NUMBERS.get(call.getSimpleName());
                if (number != null && literal(call) instanceof Integer value) {
                    found.put(number, value.toString());
                }
                return super.visitMethodInvocation(call, found);
            }
        }.visit(method.getBody(), numbers);
        return new Pool(numbers.get("core"), numbers.get("max"), numbers.get("queue"), candidate);
    }

    private static @Nullable Object literal(J.MethodInvocation call) {
        List<Expression> arguments = call.getArguments();
        return !arguments.isEmpty() && arguments.get(0) instanceof J.Literal literal ? literal.getValue() : null;
    }

    /**
     * The numbers of a pool, null where they are not known.
     *
     * @param core its size as long as its queue is not full
     * @param max its size when its queue is full
     * @param queue the capacity of its queue
     * @param candidate whether it may be the one for methods that name none
     */
    record Pool(
            @Nullable String core,
            @Nullable String max,
            @Nullable String queue,
            boolean candidate) {

        static final Pool UNKNOWN = new Pool(null, null, null, false);

        /** As many calls as ran at once under load: a pool grows when its queue is full. */
        @Nullable
        String permits() {
            return queue != null && max != null ? max : core;
        }
    }
}
