package io.github.virtualthread.aop;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.core.ResolvableType;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.util.StringUtils;

/**
 * Registers what the expression of a key calls by reflection in a native image: the getters, fields and methods along its paths, by the
 * declared types.
 */
record KeyExpressionHints(AnnotatedMethod method, KeyExpression.Parameters parameters, ReflectionHints hints) {

    /** Registers every path in a part of the expression. */
    void register(SpelNode node) {
        if (node instanceof CompoundExpression) {
            ResolvableType type = typeOf(node.getChild(0));
            for (int i = 1; i < node.getChildCount(); i++) {
                type = step(type, node.getChild(i));
            }
        } else if (node instanceof PropertyOrFieldReference) {
            ResolvableType unused = typeOf(node);
        }
        for (int i = 0; i < node.getChildCount(); i++) {
            register(node.getChild(i));
        }
    }

    private ResolvableType typeOf(SpelNode begin) {
        if (!(begin instanceof VariableReference)) {
            return step(ResolvableType.forClass(KeyExpression.Root.class), begin); // a name without sign
        }
        String variable = begin.toStringAST().substring(1);
        if (variable.equals("root")) {
            hints.registerType(KeyExpression.Root.class, MemberCategory.INVOKE_DECLARED_METHODS);
            return ResolvableType.forClass(KeyExpression.Root.class);
        }
        return method.parameterType(parameters.indexOf(variable));
    }

    private ResolvableType step(ResolvableType from, SpelNode step) {
        if (step instanceof PropertyOrFieldReference property) {
            String suffix = StringUtils.capitalize(property.getName());
            return member(from, Set.of("get" + suffix, "is" + suffix, property.getName()), 0, property.getName());
        }
        if (step instanceof MethodReference called) {
            return member(from, Set.of(called.getName()), called.getChildCount(), "");
        }
        return step instanceof Indexer ? element(from) : ResolvableType.NONE;
    }

    /** Registers the methods and the field that a step may mean, and returns the type of one of them. */
    private ResolvableType member(ResolvableType from, Set<String> methods, int parameterCount, String field) {
        Class<?> type = from.toClass();
        ResolvableType to = ResolvableType.NONE;
        for (Method each : type.getMethods()) {
            if (methods.contains(each.getName()) && each.getParameterCount() == parameterCount) {
                hints.registerType(type);
                hints.registerMethod(each, ExecutableMode.INVOKE);
                to = ResolvableType.forType(each.getGenericReturnType(), from);
            }
        }
        for (Field each : type.getFields()) {
            if (each.getName().equals(field)) {
                hints.registerType(type);
                hints.registerField(each);
                to = ResolvableType.forType(each.getGenericType(), from);
            }
        }
        return to;
    }

    private static ResolvableType element(ResolvableType from) {
        if (from.isArray()) {
            return from.getComponentType();
        }
        return Map.class.isAssignableFrom(from.toClass())
                ? from.as(Map.class).getGeneric(1)
                : from.as(Collection.class).getGeneric(0);
    }
}
