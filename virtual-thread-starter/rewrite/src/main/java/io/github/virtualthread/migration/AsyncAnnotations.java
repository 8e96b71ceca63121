package io.github.virtualthread.migration;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.openrewrite.ExecutionContext;
import org.openrewrite.Tree;
import org.openrewrite.internal.ListUtils;
import org.openrewrite.java.JavaIsoVisitor;
import org.openrewrite.java.tree.Comment;
import org.openrewrite.java.tree.Expression;
import org.openrewrite.java.tree.J;
import org.openrewrite.java.tree.JavaType;
import org.openrewrite.java.tree.NameTree;
import org.openrewrite.java.tree.Space;
import org.openrewrite.java.tree.TextComment;
import org.openrewrite.java.tree.TypeTree;
import org.openrewrite.java.tree.TypeUtils;
import org.openrewrite.marker.Markers;

/**
 * Replaces the annotation where the application would start with the new one. Elsewhere the old one stays, and a comment says why.
 * The annotations of a class and of its methods are replaced together, because a start refuses both on one method.
 */
final class AsyncAnnotations extends JavaIsoVisitor<ExecutionContext> {

    private static final String ASYNC = "org.springframework.scheduling.annotation.Async";
    private static final String VIRTUAL_THREAD = "io.github.virtualthread.VirtualThread";
    private static final Set<String> FUTURES = Set.of(
            "java.util.concurrent.CompletableFuture",
            "java.util.concurrent.CompletionStage",
            "java.util.concurrent.Future");
    /** Modifiers of methods that a proxy does not see. */
    private static final Set<J.Modifier.Type> UNSEEN =
            Set.of(J.Modifier.Type.Private, J.Modifier.Type.Static, J.Modifier.Type.Final);

    /** What to do where no other advice can be given. */
    static final String SET_A_LIMIT = "Set a limit, and name it in @VirtualThread.";

    private static final String REMARK = " Stays @Async: ";

    private final Function<String, Verdict> verdicts;
    private final List<Set<String>> replaced = new ArrayList<>();

    /**
     * Creates it.
     *
     * @param verdicts what becomes of an annotation with the name of an executor; empty for one without a name
     */
    AsyncAnnotations(Function<String, Verdict> verdicts) {
        this.verdicts = verdicts;
    }

    /** Names in annotations that have been replaced, together those that had to be replaced together. */
    List<Set<String>> replaced() {
        return replaced;
    }

    @Override
    public J.ClassDeclaration visitClassDeclaration(J.ClassDeclaration type, ExecutionContext context) {
        J.ClassDeclaration visited = super.visitClassDeclaration(type, context);
        J.Annotation async = async(type.getLeadingAnnotations());
        if (async == null) {
            return visited;
        }
        String obstacle = inTheWayOfClass(type, async);
        if (obstacle == null) {
            Stream<J.Annotation> ofMethods = methods(type).map(method -> async(method.getLeadingAnnotations()));
            replaced.add(Stream.concat(Stream.of(async), ofMethods)
                    .flatMap(each -> Stream.ofNullable(each == null ? null : name(each)))
                    .collect(Collectors.toSet()));
        }
        J.ClassDeclaration result = remarked(visited, obstacle);
        return obstacle == null ? result.withLeadingAnnotations(replaced(result.getLeadingAnnotations())) : result;
    }

    @Override
    public J.MethodDeclaration visitMethodDeclaration(J.MethodDeclaration method, ExecutionContext context) {
        J.MethodDeclaration visited = super.visitMethodDeclaration(method, context);
        J.Annotation async = async(method.getLeadingAnnotations());
        J.ClassDeclaration type = getCursor().firstEnclosing(J.ClassDeclaration.class);
        J.Annotation ofClass = type == null ? null : async(type.getLeadingAnnotations());
        if (async == null || (ofClass != null && inTheWayOfClass(type, ofClass) != null)) {
            return visited;
        }
        String obstacle = inTheWayOfMethod(method, async, "it");
        String name = name(async);
        if (obstacle == null && ofClass == null && name != null) {
            replaced.add(Set.of(name));
        }
        J.MethodDeclaration result = remarked(visited, obstacle);
        return obstacle == null ? result.withLeadingAnnotations(replaced(result.getLeadingAnnotations())) : result;
    }

    private static Stream<J.MethodDeclaration> methods(J.ClassDeclaration type) {
        return type.getBody().getStatements().stream()
                .flatMap(each -> each instanceof J.MethodDeclaration method ? Stream.of(method) : Stream.empty());
    }

    private @Nullable String inTheWayOfClass(J.ClassDeclaration type, J.Annotation async) {
        if (type.getKind() == J.ClassDeclaration.Kind.Type.Annotation) {
            return "it is on an annotation. First let all methods that have @" + type.getSimpleName()
                    + " return CompletableFuture, CompletionStage, Future or void.";
        }
        String obstacle = inTheWayOfName(async);
        return obstacle != null
                ? obstacle
                : methods(type)
                        .filter(method -> !method.isConstructor())
                        .flatMap(method -> Stream.ofNullable(inTheWayOfMethodOfClass(type, method)))
                        .findFirst()
                        .orElse(null);
    }

    private @Nullable String inTheWayOfMethodOfClass(J.ClassDeclaration type, J.MethodDeclaration method) {
        String name = method.getSimpleName();
        J.Annotation own = async(method.getLeadingAnnotations());
        if (own != null) {
            return inTheWayOfMethod(method, own, name);
        }
        if (method.hasModifier(J.Modifier.Type.Private) || method.hasModifier(J.Modifier.Type.Static)) {
            return null;
        }
        return method.hasModifier(J.Modifier.Type.Public) || type.getKind() == J.ClassDeclaration.Kind.Type.Interface
                ? inTheWayOfSignature(method, name)
                : name
                        + " is not public, and @VirtualThread on a class covers public methods only. Annotate the methods.";
    }

    private @Nullable String inTheWayOfMethod(J.MethodDeclaration method, J.Annotation async, String subject) {
        String obstacle = inTheWayOfSignature(method, subject);
        return obstacle == null ? inTheWayOfName(async) : obstacle;
    }

    private static @Nullable String inTheWayOfSignature(J.MethodDeclaration method, String subject) {
        for (J.Modifier modifier : method.getModifiers()) {
            if (UNSEEN.contains(modifier.getType())) {
                return subject + " is " + modifier + ", so that calls bypass the proxy.";
            }
        }
        TypeTree returned = method.getReturnTypeExpression();
        JavaType type = returned == null ? null : returned.getType();
        JavaType.FullyQualified future = TypeUtils.asFullyQualified(type);
        return type == JavaType.Primitive.Void || (future != null && FUTURES.contains(future.getFullyQualifiedName()))
                ? null
                : subject + " returns " + returned
                        + ". @VirtualThread needs CompletableFuture, CompletionStage, Future or void.";
    }

    private @Nullable String inTheWayOfName(J.Annotation async) {
        String name = name(async);
        return name != null && (name.isEmpty() || Application.isLimit(name))
                ? verdicts.apply(name).obstacle()
                : "its executor is not named by letters, digits, '-' and '_'. " + SET_A_LIMIT;
    }

    /** Null if it is not written out. */
    private static @Nullable String name(J.Annotation async) {
        List<Expression> arguments = async.getArguments();
        if (arguments == null || arguments.isEmpty() || arguments.get(0) instanceof J.Empty) {
            return "";
        }
        Expression value = arguments.get(0) instanceof J.Assignment named ? named.getAssignment() : arguments.get(0);
        return value instanceof J.Literal literal && literal.getValue() instanceof String text ? text : null;
    }

    static J.@Nullable Annotation find(List<J.Annotation> annotations, String type) {
        return annotations.stream()
                .filter(annotation -> TypeUtils.isOfClassType(annotation.getType(), type))
                .findFirst()
                .orElse(null);
    }

    private static J.@Nullable Annotation async(List<J.Annotation> annotations) {
        return find(annotations, ASYNC);
    }

    private List<J.Annotation> replaced(List<J.Annotation> annotations) {
        return ListUtils.map(
                annotations, each -> TypeUtils.isOfClassType(each.getType(), ASYNC) ? virtualThread(each) : each);
    }

    private J.Annotation virtualThread(J.Annotation async) {
        maybeAddImport(VIRTUAL_THREAD);
        maybeRemoveImport(ASYNC);
        NameTree written = async.getAnnotationType();
        NameTree type = written instanceof J.Identifier imported
                ? imported.withSimpleName("VirtualThread").withType(JavaType.buildType(VIRTUAL_THREAD))
                : TypeTree.<J.FieldAccess>build(VIRTUAL_THREAD).withPrefix(written.getPrefix());
        J.Annotation moved = async.withAnnotationType(type);
        String name = Objects.requireNonNull(name(async));
        String limit = verdicts.apply(name).limit();
        return limit.equals(name) ? moved : moved.withArguments(List.of(literal(limit)));
    }

    private static Expression literal(String text) {
        return new J.Literal(
                Tree.randomId(), Space.EMPTY, Markers.EMPTY, text, '"' + text + '"', null, JavaType.Primitive.String);
    }

    /** With the remark of this run, and no other, however often the recipe runs. */
    private static <T extends J> T remarked(T tree, @Nullable String obstacle) {
        List<Comment> comments = tree.getComments();
        String remark = obstacle == null ? null : REMARK + obstacle;
        List<Comment> kept = ListUtils.map(
                comments,
                each -> each instanceof TextComment text
                                && text.getText().startsWith(REMARK)
                                && !text.getText().equals(remark)
                        ? null
                        : each);
        boolean isThere = kept.stream()
                .anyMatch(each ->
                        each instanceof TextComment text && text.getText().equals(remark));
        String indent = "\n" + tree.getPrefix().getIndent();
        return tree.withPrefix(tree.getPrefix()
                .withComments(
                        remark == null || isThere
                                ? kept
                                : ListUtils.concat(kept, new TextComment(false, remark, indent, Markers.EMPTY))));
    }
}
