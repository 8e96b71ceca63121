package io.github.virtualthread.migration;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.openrewrite.ExecutionContext;
import org.openrewrite.internal.ListUtils;
import org.openrewrite.java.JavaIsoVisitor;
import org.openrewrite.java.tree.Comment;
import org.openrewrite.java.tree.Expression;
import org.openrewrite.java.tree.J;
import org.openrewrite.java.tree.JavaType;
import org.openrewrite.java.tree.NameTree;
import org.openrewrite.java.tree.Statement;
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
    private static final Pattern NAME = Pattern.compile("(?!none$)[\\w-]*");
    /** Modifiers of methods that a proxy does not see. */
    private static final Set<J.Modifier.Type> UNSEEN =
            Set.of(J.Modifier.Type.Private, J.Modifier.Type.Static, J.Modifier.Type.Final);

    private static final String REMARK = " Stays @Async: ";

    private final Set<String> limits = new TreeSet<>();

    /** Names in the annotations that have been replaced; empty for one without a name. */
    Set<String> limits() {
        return limits;
    }

    @Override
    public J.ClassDeclaration visitClassDeclaration(J.ClassDeclaration type, ExecutionContext context) {
        J.ClassDeclaration visited = super.visitClassDeclaration(type, context);
        J.Annotation async = async(type.getLeadingAnnotations());
        if (async == null) {
            return visited;
        }
        String obstacle = inTheWayOfClass(type, async);
        return obstacle == null
                ? visited.withLeadingAnnotations(replaced(visited.getLeadingAnnotations()))
                : remarked(visited, obstacle);
    }

    @Override
    public J.MethodDeclaration visitMethodDeclaration(J.MethodDeclaration method, ExecutionContext context) {
        J.MethodDeclaration visited = super.visitMethodDeclaration(method, context);
        J.Annotation async = async(method.getLeadingAnnotations());
        if (async == null || staysWithItsClass()) {
            return visited;
        }
        String obstacle = inTheWayOfMethod(method, async, "it");
        return obstacle == null
                ? visited.withLeadingAnnotations(replaced(visited.getLeadingAnnotations()))
                : remarked(visited, obstacle);
    }

    private boolean staysWithItsClass() {
        J.ClassDeclaration type = getCursor().firstEnclosing(J.ClassDeclaration.class);
        J.Annotation async = type == null ? null : async(type.getLeadingAnnotations());
        return async != null && inTheWayOfClass(type, async) != null;
    }

    private static @Nullable String inTheWayOfClass(J.ClassDeclaration type, J.Annotation async) {
        if (type.getKind() == J.ClassDeclaration.Kind.Type.Annotation) {
            return "it is on an annotation. First let all methods that have @" + type.getSimpleName()
                    + " return CompletableFuture, CompletionStage, Future or void.";
        }
        String obstacle = inTheWayOfName(async);
        for (Statement statement : type.getBody().getStatements()) {
            if (obstacle == null && statement instanceof J.MethodDeclaration method && !method.isConstructor()) {
                obstacle = inTheWayOfMethodOfClass(type, method);
            }
        }
        return obstacle;
    }

    private static @Nullable String inTheWayOfMethodOfClass(J.ClassDeclaration type, J.MethodDeclaration method) {
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

    private static @Nullable String inTheWayOfMethod(J.MethodDeclaration method, J.Annotation async, String subject) {
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

    private static @Nullable String inTheWayOfName(J.Annotation async) {
        String name = name(async);
        return name != null && NAME.matcher(name).matches()
                ? null
                : "its executor is not named by letters, digits, '-' and '_'. Set a limit, and name it in @VirtualThread.";
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
        String name = name(async);
        if (name != null) {
            limits.add(name);
        }
        maybeAddImport(VIRTUAL_THREAD);
        maybeRemoveImport(ASYNC);
        NameTree written = async.getAnnotationType();
        NameTree type = written instanceof J.Identifier imported
                ? imported.withSimpleName("VirtualThread").withType(JavaType.buildType(VIRTUAL_THREAD))
                : TypeTree.<J.FieldAccess>build(VIRTUAL_THREAD).withPrefix(written.getPrefix());
        return async.withAnnotationType(type);
    }

    /** With one comment, however often the recipe runs. */
    private static <T extends J> T remarked(T tree, String obstacle) {
        List<Comment> comments = tree.getComments();
        for (Comment comment : comments) {
            if (comment instanceof TextComment text && text.getText().startsWith(REMARK)) {
                return tree;
            }
        }
        String indent = "\n" + tree.getPrefix().getIndent();
        Comment remark = new TextComment(false, REMARK + obstacle, indent, Markers.EMPTY);
        return tree.withPrefix(tree.getPrefix().withComments(ListUtils.concat(comments, remark)));
    }
}
