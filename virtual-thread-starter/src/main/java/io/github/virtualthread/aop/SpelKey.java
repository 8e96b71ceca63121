package io.github.virtualthread.aop;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.core.NativeDetector;
import org.springframework.core.ResolvableType;
import org.springframework.expression.spel.SpelCompilerMode;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.expression.spel.support.StandardTypeLocator;
import org.springframework.util.StringUtils;

/** A key that is an expression of Spring, parsed once per method. Its classes are loaded only for such keys. */
final class SpelKey {

    private static final Set<String> ROOT = Set.of("root", "this");

    private final SpelExpression parsed;
    private final AnnotatedMethod method;
    private final KeyExpression.Parameters parameters;
    private final StandardEvaluationContext shared = new StandardEvaluationContext();

    private SpelKey(SpelExpression parsed, AnnotatedMethod method, KeyExpression.Parameters parameters) {
        this.parsed = parsed;
        this.method = method;
        this.parameters = parameters;
    }

    /** Null if it cannot be parsed. */
    static @Nullable SpelKey of(
            String text, AnnotatedMethod method, KeyExpression.Parameters parameters, KeyMistakes mistakes) {
        ClassLoader classLoader = method.type().getClassLoader();
        // a native image cannot define classes
        SpelCompilerMode mode = NativeDetector.inNativeImage() ? SpelCompilerMode.OFF : SpelCompilerMode.MIXED;
        SpelExpression parsed;
        try {
            parsed = new SpelExpressionParser(new SpelParserConfiguration(mode, classLoader)).parseRaw(text);
        } catch (RuntimeException failure) {
            mistakes.unreadable(failure);
            return null;
        }
        check(parsed.getAST(), true, false, mistakes);
        SpelKey key = new SpelKey(parsed, method, parameters);
        key.shared.setTypeLocator(new StandardTypeLocator(classLoader));
        return key;
    }

    /**
     * Checks a part of the expression.
     *
     * @param onRoot whether a name without sign belongs to the root, and not to an element of a collection
     * @param isStep whether the part belongs to what is before it, as {@code id} in {@code #order.id}
     */
    private static void check(SpelNode node, boolean onRoot, boolean isStep, KeyMistakes mistakes) {
        boolean isNamed = onRoot && !isStep;
        if (node instanceof BeanReference) {
            mistakes.bean(node.toStringAST());
        } else if (node instanceof FunctionReference
                || (node instanceof VariableReference && !ROOT.contains(variable(node)))) {
            mistakes.checkVariable(variable(node));
        } else if (isNamed && node instanceof PropertyOrFieldReference property) {
            mistakes.checkProperty(property.getName());
        } else if (isNamed && node instanceof MethodReference called) {
            mistakes.checkMethod(called.getName());
        } else if (node instanceof CompoundExpression && node.getChild(0) instanceof VariableReference) {
            KeyProperties.check(node, variable(node.getChild(0)), mistakes);
        }
        for (int i = 0; i < node.getChildCount(); i++) {
            check(
                    node.getChild(i),
                    onRoot && !isOnElements(node),
                    i > 0 && node instanceof CompoundExpression,
                    mistakes);
        }
    }

    /** Name of a variable or of a function. */
    private static String variable(SpelNode node) {
        return node.toStringAST().split("[#(]")[1];
    }

    private static boolean isOnElements(SpelNode node) {
        return node instanceof Indexer || node instanceof Projection || node instanceof Selection;
    }

    @Nullable
    Object read(@Nullable Object target, @Nullable Object[] arguments) {
        Evaluation evaluation = new Evaluation(new KeyExpression.Root(method.method(), target, arguments), parameters);
        shared.applyDelegatesTo(evaluation);
        return parsed.getValue(evaluation);
    }

    /** Registers what it calls by reflection in a native image: the getters, fields and methods along its paths. */
    void registerHints(ReflectionHints hints) {
        registerHints(parsed.getAST(), hints);
    }

    /** Registers every path in a part of the expression, by the declared types. */
    private void registerHints(SpelNode node, ReflectionHints hints) {
        if (node instanceof CompoundExpression) {
            ResolvableType type = typeOf(node.getChild(0), hints);
            for (int i = 1; i < node.getChildCount(); i++) {
                type = step(type, node.getChild(i), hints);
            }
        } else if (node instanceof PropertyOrFieldReference) {
            ResolvableType unused = typeOf(node, hints);
        }
        for (int i = 0; i < node.getChildCount(); i++) {
            registerHints(node.getChild(i), hints);
        }
    }

    private ResolvableType typeOf(SpelNode begin, ReflectionHints hints) {
        if (!(begin instanceof VariableReference)) {
            return step(ResolvableType.forClass(KeyExpression.Root.class), begin, hints); // a name without sign
        }
        String variable = variable(begin);
        if (variable.equals("root")) {
            hints.registerType(KeyExpression.Root.class, MemberCategory.INVOKE_DECLARED_METHODS);
            return ResolvableType.forClass(KeyExpression.Root.class);
        }
        return method.parameterType(parameters.indexOf(variable));
    }

    private static ResolvableType step(ResolvableType from, SpelNode step, ReflectionHints hints) {
        if (step instanceof PropertyOrFieldReference property) {
            String suffix = StringUtils.capitalize(property.getName());
            return member(
                    from, Set.of("get" + suffix, "is" + suffix, property.getName()), 0, property.getName(), hints);
        }
        if (step instanceof MethodReference called) {
            return member(from, Set.of(called.getName()), called.getChildCount(), "", hints);
        }
        return step instanceof Indexer ? element(from) : ResolvableType.NONE;
    }

    /** Registers the methods and the field that a step may mean, and returns the type of one of them. */
    private static ResolvableType member(
            ResolvableType from, Set<String> methods, int parameterCount, String field, ReflectionHints hints) {
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
        if (Map.class.isAssignableFrom(from.toClass())) {
            return from.as(Map.class).getGeneric(1);
        }
        return from.as(Collection.class).getGeneric(0);
    }

    /** The variables of one call are its arguments. */
    private static final class Evaluation extends StandardEvaluationContext {

        private final KeyExpression.Root root;
        private final KeyExpression.Parameters parameters;

        Evaluation(KeyExpression.Root root, KeyExpression.Parameters parameters) {
            super(root);
            this.root = root;
            this.parameters = parameters;
        }

        @Override
        public @Nullable Object lookupVariable(String name) {
            int index = parameters.indexOf(name);
            return index < 0 ? super.lookupVariable(name) : root.args()[index];
        }
    }
}
