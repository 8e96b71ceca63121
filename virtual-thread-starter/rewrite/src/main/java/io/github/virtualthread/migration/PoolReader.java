package io.github.virtualthread.migration;

import static java.util.Map.entry;
import static org.openrewrite.java.tree.TypeUtils.isAssignableTo;
import static org.openrewrite.java.tree.TypeUtils.isOfClassType;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.openrewrite.java.JavaIsoVisitor;
import org.openrewrite.java.tree.Expression;
import org.openrewrite.java.tree.J;
import org.openrewrite.java.tree.JavaType;
import org.openrewrite.java.tree.Statement;
import org.openrewrite.java.tree.TypeUtils;

/**
 * Follows a method that creates an executor, statement by statement. Where it branches, or a number is not written out, the pool
 * is not known: nothing is guessed.
 */
final class PoolReader {

    static final String BOOT = "org.springframework.boot.task.";

    private static final String JDK = "java.util.concurrent.";
    private static final String CORE = "org.springframework.core.task.";
    private static final String CONCURRENT = "org.springframework.scheduling.concurrent.";

    private static final Pool OF_SPRING = Pool.of(Amount.of(1), Amount.UNBOUNDED, Amount.UNBOUNDED);

    /** What a constructor creates. */
    private static final Map<String, Pool> CREATED = Map.ofEntries(
            entry(CONCURRENT + "ThreadPoolTaskExecutor", OF_SPRING),
            entry(BOOT + "ThreadPoolTaskExecutorBuilder", OF_SPRING),
            entry(CONCURRENT + "ThreadPoolTaskScheduler", Pool.fixed(1)),
            entry(CORE + "SimpleAsyncTaskExecutor", Pool.fixed(Integer.MAX_VALUE)),
            entry(BOOT + "SimpleAsyncTaskExecutorBuilder", Pool.fixed(Integer.MAX_VALUE)),
            entry(CORE + "VirtualThreadTaskExecutor", Pool.UNLIMITED));

    /** What Spring Boot passes to a method. */
    private static final Map<String, Pool> INJECTED = Map.of(
            BOOT + "ThreadPoolTaskExecutorBuilder", Pool.CONFIGURED,
            BOOT + "SimpleAsyncTaskExecutorBuilder", Pool.SIMPLE);

    /** Of {@code Executors}. */
    private static final Map<String, Pool> FACTORIES = Map.of(
            "newSingleThreadExecutor", Pool.fixed(1),
            "newSingleThreadScheduledExecutor", Pool.fixed(1),
            "newCachedThreadPool", Pool.UNLIMITED,
            "newThreadPerTaskExecutor", Pool.UNLIMITED,
            "newVirtualThreadPerTaskExecutor", Pool.UNLIMITED);

    private static final Set<String> SIZED_FACTORIES = Set.of("newFixedThreadPool", "newScheduledThreadPool");

    /** Do nothing to a call that the engine does not do too. */
    private static final Set<String> WRAPPERS = Set.of(
            CORE + "support.TaskExecutorAdapter",
            CONCURRENT + "ConcurrentTaskExecutor",
            "org.springframework.security.concurrent.DelegatingSecurityContextExecutor",
            "org.springframework.security.concurrent.DelegatingSecurityContextExecutorService",
            "org.springframework.security.task.DelegatingSecurityContextAsyncTaskExecutor",
            "org.springframework.security.task.DelegatingSecurityContextTaskExecutor",
            "tech.jhipster.async.ExceptionHandlingAsyncTaskExecutor");

    private static final Set<String> DECORATING = Set.of("setTaskDecorator", "taskDecorator");

    private static final Map<String, Amount> PROPERTIES = Map.of(
            "getCoreSize", Pool.CORE_SIZE,
            "getMaxSize", Pool.MAX_SIZE,
            "getQueueCapacity", Pool.QUEUE_CAPACITY);

    private final Map<String, Pool> variables = new HashMap<>();

    private PoolReader(J.MethodDeclaration method) {
        for (Statement parameter : method.getParameters()) {
            if (parameter instanceof J.VariableDeclarations declared) {
                assign(declared.getVariables().get(0).getSimpleName(), INJECTED.get(nameOf(declared.getType())));
            }
        }
    }

    /** Null if it is not known. */
    static @Nullable Pool read(J.MethodDeclaration method) {
        return method.getBody() == null
                ? null
                : new PoolReader(method).follow(method.getBody().getStatements());
    }

    private @Nullable Pool follow(List<Statement> statements) {
        for (Statement statement : statements) {
            if (statement instanceof J.Return end) {
                return pool(end.getExpression());
            } else if (statement instanceof J.VariableDeclarations declared) {
                declared.getVariables().forEach(each -> assign(each.getSimpleName(), pool(each.getInitializer())));
            } else if (statement instanceof J.Assignment assigned) {
                assign(assigned.getVariable().toString(), pool(assigned.getAssignment()));
            } else if (statement instanceof J.MethodInvocation call) {
                call.getArguments().forEach(this::handOn);
                assign(root(call), pool(call));
            } else {
                return null;
            }
        }
        return null;
    }

    private void assign(String variable, @Nullable Pool pool) {
        if (pool == null) {
            variables.remove(variable);
        } else {
            variables.put(variable, pool);
        }
    }

    /** What gets a variable may change its pool. */
    private void handOn(Expression argument) {
        new JavaIsoVisitor<Map<String, Pool>>() {
            @Override
            public J.Identifier visitIdentifier(J.Identifier identifier, Map<String, Pool> pools) {
                pools.remove(identifier.getSimpleName());
                return identifier;
            }
        }.visit(argument, variables);
    }

    private @Nullable Pool pool(@Nullable Expression expression) {
        Expression plain = expression == null ? null : expression.unwrap();
        if (plain instanceof J.TypeCast cast) {
            return pool(cast.getExpression());
        }
        if (plain instanceof J.NewClass created && created.getBody() == null) {
            return created(nameOf(created.getType()), created.getArguments());
        }
        if (plain instanceof J.MethodInvocation call) {
            return isOfExecutors(call) ? made(call) : changed(pool(call.getSelect()), call);
        }
        return plain instanceof J.Identifier variable ? variables.get(variable.getSimpleName()) : null;
    }

    private @Nullable Pool created(String type, List<Expression> arguments) {
        if (WRAPPERS.contains(type)) {
            return arguments.size() == 1 ? pool(arguments.get(0)) : null;
        }
        if (type.equals(JDK + "ThreadPoolExecutor")) {
            Pool pool = OF_SPRING.with(number(arguments.get(0)), number(arguments.get(1)), queue(arguments.get(4)));
            boolean handles = arguments.stream().skip(5).anyMatch(PoolReader::handlesRejections);
            return pool != null && handles ? pool.handlingRejections() : pool;
        }
        return CREATED.get(type);
    }

    private @Nullable Pool made(J.MethodInvocation call) {
        return SIZED_FACTORIES.contains(call.getSimpleName())
                ? sized(Pool.fixed(0), call)
                : FACTORIES.get(call.getSimpleName());
    }

    private static @Nullable Pool sized(Pool pool, J.MethodInvocation call) {
        Amount size = number(call.getArguments().get(0));
        return pool.with(size, size, pool.queue());
    }

    private @Nullable Pool changed(@Nullable Pool pool, J.MethodInvocation call) {
        if (pool == null) {
            return null;
        }
        Expression argument = call.getArguments().get(0);
        return switch (call.getSimpleName()) {
            case "setCorePoolSize", "corePoolSize" -> pool.with(number(argument), pool.max(), pool.queue());
            case "setMaxPoolSize", "maxPoolSize", "setMaximumPoolSize" ->
                pool.with(pool.core(), number(argument), pool.queue());
            case "setQueueCapacity", "queueCapacity" -> pool.with(pool.core(), pool.max(), number(argument));
            case "setPoolSize", "setConcurrencyLimit", "concurrencyLimit" -> sized(pool, call);
            case "setRejectTasksWhenLimitReached", "rejectTasksWhenLimitReached" ->
                pool.with(pool.core(), pool.max(), argument.toString().equals("true") ? Amount.of(0) : null);
            case "setRejectedExecutionHandler" -> handlesRejections(argument) ? pool.handlingRejections() : pool;
            case "customizers", "additionalCustomizers", "configure" -> null;
            default -> pool;
        };
    }

    /** Whether a method gives an executor a decorator that may not be a bean. */
    static boolean decorates(J.MethodDeclaration method) {
        Set<String> parameters = method.getParameters().stream()
                .flatMap(each -> each instanceof J.VariableDeclarations declared
                        ? declared.getVariables().stream()
                        : Stream.empty())
                .map(J.VariableDeclarations.NamedVariable::getSimpleName)
                .collect(Collectors.toSet());
        AtomicBoolean decorates = new AtomicBoolean();
        new JavaIsoVisitor<AtomicBoolean>() {
            @Override
            public J.MethodInvocation visitMethodInvocation(J.MethodInvocation call, AtomicBoolean found) {
                if (DECORATING.contains(call.getSimpleName())
                        && !isBean(call.getArguments().get(0), parameters)) {
                    found.set(true);
                }
                return super.visitMethodInvocation(call, found);
            }
        }.visit(method, decorates);
        return decorates.get();
    }

    private static boolean isBean(Expression decorator, Set<String> parameters) {
        return parameters.contains(root(decorator))
                || isOfClassType(decorator.getType(), CORE + "support.ContextPropagatingTaskDecorator")
                || (decorator instanceof J.MethodInvocation call
                        && call.getMethodType() != null
                        && call.getMethodType().getAnnotations().stream()
                                .anyMatch(each -> isOfClassType(each, SpringBeans.BEAN)));
    }

    private static boolean handlesRejections(Expression argument) {
        return isAssignableTo(JDK + "RejectedExecutionHandler", argument.getType())
                && !isOfClassType(argument.getType(), JDK + "ThreadPoolExecutor$AbortPolicy");
    }

    private static @Nullable Amount queue(Expression expression) {
        if (!(expression instanceof J.NewClass created)) {
            return null;
        }
        Expression capacity = created.getArguments().get(0);
        return switch (nameOf(created.getType())) {
            case JDK + "SynchronousQueue" -> Amount.of(0);
            case JDK + "LinkedBlockingQueue" -> capacity instanceof J.Empty ? Amount.UNBOUNDED : number(capacity);
            case JDK + "ArrayBlockingQueue" -> number(capacity);
            default -> null;
        };
    }

    private static @Nullable Amount number(Expression expression) {
        if (expression instanceof J.Literal literal && literal.getValue() instanceof Integer number) {
            return Amount.of(number);
        }
        if (expression instanceof J.MethodInvocation call
                && call.getMethodType() != null
                && nameOf(call.getMethodType().getDeclaringType()).endsWith("TaskExecutionProperties$Pool")) {
            return PROPERTIES.get(call.getSimpleName());
        }
        return expression.toString().equals("Integer.MAX_VALUE") ? Amount.UNBOUNDED : null;
    }

    private static boolean isOfExecutors(J.MethodInvocation call) {
        return call.getSelect() != null && isOfClassType(call.getSelect().getType(), JDK + "Executors");
    }

    /** The variable that a chain of calls begins with; empty if it begins with something else. */
    private static String root(Expression expression) {
        Expression first = expression;
        while (first instanceof J.MethodInvocation call && call.getSelect() != null) {
            first = call.getSelect();
        }
        return first instanceof J.Identifier variable ? variable.getSimpleName() : "";
    }

    private static String nameOf(@Nullable JavaType type) {
        JavaType.FullyQualified named = TypeUtils.asFullyQualified(type);
        return named == null ? "" : named.getFullyQualifiedName();
    }
}
