package io.github.virtualthread.migration;

import static org.openrewrite.java.tree.TypeUtils.isAssignableTo;
import static org.openrewrite.java.tree.TypeUtils.isOfClassType;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.openrewrite.ExecutionContext;
import org.openrewrite.java.JavaIsoVisitor;
import org.openrewrite.java.tree.Expression;
import org.openrewrite.java.tree.J;
import org.openrewrite.java.tree.JavaType;
import org.openrewrite.java.tree.Statement;
import org.openrewrite.java.tree.TypeUtils;

/** What the classes of a module say about the executors of an application. */
final class SpringBeans extends JavaIsoVisitor<ExecutionContext> {

    static final String BEAN = "org.springframework.context.annotation.Bean";

    private static final String SCHEDULING = "org.springframework.scheduling.";

    /** Brings executors of its own. */
    private static final String BROKER =
            "org.springframework.web.socket.config.annotation.EnableWebSocketMessageBroker";

    private final Map<String, ExecutorBean> executors = new TreeMap<>();
    /** Of each {@code AsyncConfigurer}. */
    private final Set<ExecutorBean> configured = new HashSet<>();

    private boolean isApplication;
    private boolean enablesAsync;
    private boolean hasScheduler;
    private boolean hasBroker;
    private boolean changesSpringBoots;
    private boolean decoratesSpringBoots;

    void addAll(SpringBeans others) {
        others.executors.forEach((name, executor) -> executors.merge(name, executor, ExecutorBean::or));
        configured.addAll(others.configured);
        isApplication |= others.isApplication;
        enablesAsync |= others.enablesAsync;
        hasScheduler |= others.hasScheduler;
        hasBroker |= others.hasBroker;
        changesSpringBoots |= others.changesSpringBoots;
        decoratesSpringBoots |= others.decoratesSpringBoots;
    }

    boolean isApplication() {
        return isApplication;
    }

    boolean enableAsync() {
        return enablesAsync;
    }

    /** Whether something may change the executor of Spring Boot, besides its settings. */
    boolean changeSpringBoots() {
        return changesSpringBoots;
    }

    /** Whether something gives the executor of Spring Boot a decorator that may not be a bean. */
    boolean decorateSpringBoots() {
        return decoratesSpringBoots;
    }

    boolean haveConfigurer() {
        return !configured.isEmpty();
    }

    /** Whether Spring Boot adds none of its own. */
    boolean replaceSpringBoots() {
        return hasBroker || executors.values().stream().anyMatch(ExecutorBean::isCandidate);
    }

    @Nullable
    ExecutorBean named(String name) {
        return executors.get(name);
    }

    /** The executor that Spring takes for methods that name none; null if that is not certain. */
    @Nullable
    ExecutorBean unnamed() {
        if (haveConfigurer()) {
            return configured.size() == 1 ? configured.iterator().next() : null;
        }
        Set<ExecutorBean> candidates = new HashSet<>(executors.values());
        candidates.removeIf(executor -> !executor.isTaskExecutor() || !executor.isCandidate());
        return candidates.stream()
                .filter(executor -> executor.isPrimary() || (candidates.size() == 1 && !hasScheduler && !hasBroker))
                .findFirst()
                .orElseGet(() -> executors.get("taskExecutor"));
    }

    @Override
    public J.Annotation visitAnnotation(J.Annotation annotation, ExecutionContext context) {
        isApplication |= isOrHas(annotation, "org.springframework.boot.autoconfigure.EnableAutoConfiguration");
        enablesAsync |= isOrHas(annotation, SCHEDULING + "annotation.EnableAsync");
        hasScheduler |= isOrHas(annotation, SCHEDULING + "annotation.EnableScheduling");
        hasBroker |= isOrHas(annotation, BROKER);
        return annotation;
    }

    /** Whether it is of that type, or its type has an annotation of that type. */
    private static boolean isOrHas(J.Annotation annotation, String type) {
        JavaType.FullyQualified own = TypeUtils.asFullyQualified(annotation.getType());
        return own != null
                && Stream.concat(Stream.of(own), own.getAnnotations().stream())
                        .anyMatch(each -> isOfClassType(each, type));
    }

    @Override
    public J.ClassDeclaration visitClassDeclaration(J.ClassDeclaration type, ExecutionContext context) {
        changesSpringBoots |= isOfSpringBoots(type.getType());
        return super.visitClassDeclaration(type, context);
    }

    @Override
    public J.MethodDeclaration visitMethodDeclaration(J.MethodDeclaration method, ExecutionContext context) {
        J.Annotation bean = AsyncAnnotations.find(method.getLeadingAnnotations(), BEAN);
        JavaType returned = returned(method);
        boolean isConfigurers = method.getSimpleName().equals("getAsyncExecutor");
        if (bean != null) {
            changesSpringBoots |= isOfSpringBoots(returned);
            decoratesSpringBoots |= isOfSpringBoots(returned) && PoolReader.decorates(method);
            hasScheduler |= isOfClassType(returned, SCHEDULING + "TaskScheduler");
        }
        if (isAssignableTo("java.util.concurrent.Executor", returned) && (bean != null || isConfigurers)) {
            ExecutorBean executor = executor(method);
            if (bean != null) {
                names(method, bean).forEach(name -> executors.merge(name, executor, ExecutorBean::or));
            }
            if (isConfigurers && !returnsNull(method)) {
                configured.add(executor);
            }
        }
        return super.visitMethodDeclaration(method, context);
    }

    /** A builder in place of Spring Boot's, or a customizer, which both change what its settings say. */
    private static boolean isOfSpringBoots(@Nullable JavaType type) {
        return Stream.of("Builder", "Customizer")
                .flatMap(kind -> Stream.of("ThreadPoolTaskExecutor" + kind, "SimpleAsyncTaskExecutor" + kind))
                .anyMatch(name -> isAssignableTo(PoolReader.BOOT + name, type));
    }

    private static @Nullable JavaType returned(J.MethodDeclaration method) {
        return method.getReturnTypeExpression() == null
                ? null
                : method.getReturnTypeExpression().getType();
    }

    private ExecutorBean executor(J.MethodDeclaration method) {
        J.Annotation bean = AsyncAnnotations.find(method.getLeadingAnnotations(), BEAN);
        Expression result = result(method);
        J.MethodDeclaration source = bean == null && result instanceof J.MethodInvocation call ? own(call) : null;
        if (source != null) {
            return executor(source);
        }
        String name = bean == null ? "getAsyncExecutor()" : names(method, bean).get(0);
        String taskExecutor = "org.springframework.core.task.TaskExecutor";
        return new ExecutorBean(
                bean == null ? "pool" : name,
                name,
                PoolReader.read(method),
                PoolReader.decorates(method),
                isAssignableTo(taskExecutor, returned(method))
                        || (result != null && isAssignableTo(taskExecutor, result.getType())),
                bean != null && arguments(bean).stream().noneMatch(SpringBeans::isNoCandidate),
                AsyncAnnotations.find(method.getLeadingAnnotations(), "org.springframework.context.annotation.Primary")
                        != null);
    }

    private static @Nullable Expression result(J.MethodDeclaration method) {
        List<Statement> statements =
                method.getBody() == null ? List.of() : method.getBody().getStatements();
        return !statements.isEmpty() && statements.get(statements.size() - 1) instanceof J.Return end
                ? end.getExpression()
                : null;
    }

    private static boolean returnsNull(J.MethodDeclaration method) {
        return result(method) instanceof J.Literal;
    }

    /** The method of the same class that a call without arguments calls. */
    private J.@Nullable MethodDeclaration own(J.MethodInvocation call) {
        J.ClassDeclaration type = getCursor().firstEnclosing(J.ClassDeclaration.class);
        return type == null || call.getSelect() != null
                ? null
                : type.getBody().getStatements().stream()
                        .map(each -> each instanceof J.MethodDeclaration method ? method : null)
                        .filter(Objects::nonNull)
                        .filter(method -> method.getSimpleName().equals(call.getSimpleName())
                                && method.getParameters().get(0) instanceof J.Empty)
                        .findFirst()
                        .orElse(null);
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

    private static List<String> names(J.MethodDeclaration method, J.Annotation bean) {
        List<String> names =
                arguments(bean).stream().flatMap(SpringBeans::names).toList();
        return names.isEmpty() ? List.of(method.getSimpleName()) : names;
    }

    private static Stream<String> names(Expression argument) {
        if (argument instanceof J.Assignment attribute) {
            String name = attribute.getVariable().toString();
            return name.equals("value") || name.equals("name") ? names(attribute.getAssignment()) : Stream.empty();
        }
        if (argument instanceof J.NewArray array && array.getInitializer() != null) {
            return array.getInitializer().stream().flatMap(SpringBeans::names);
        }
        return argument instanceof J.Literal literal && literal.getValue() instanceof String name
                ? Stream.of(name)
                : Stream.empty();
    }
}
