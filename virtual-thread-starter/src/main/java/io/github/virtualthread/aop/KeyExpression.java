package io.github.virtualthread.aop;

import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.util.ClassUtils;

/**
 * Reads the key of a call from its arguments, on the caller's thread.
 *
 * <p>A parameter alone, as in {@code #tenant} or {@code #p0}, is read by its index. Anything else is an expression of Spring, parsed
 * once per method; the classes of such expressions are loaded only then.
 */
final class KeyExpression {

    private static final Pattern PARAMETER = Pattern.compile("#([\\p{L}_$][\\p{L}\\p{N}_$]*)");

    /** Whether equal objects of a class have equal texts: if it has neither method, each object would be a key of its own. */
    static final PerClass<Boolean> HAS_TEXT = new PerClass<>(type -> !type.isArray()
            && Stream.of("toString", "hashCode")
                    .map(name -> ClassUtils.getMethod(type, name))
                    .anyMatch(method -> method.getDeclaringClass() != Object.class));

    private final String text;
    private final String method;
    private final int parameter;
    private final @Nullable SpelKey expression; // null for a parameter alone

    private KeyExpression(String text, AnnotatedMethod method, int parameter, @Nullable SpelKey expression) {
        this.text = text;
        this.method = method.qualifiedName();
        this.parameter = parameter;
        this.expression = expression;
    }

    /**
     * Parses an expression.
     *
     * @param text expression without placeholders
     * @throws VirtualThreadConfigurationException if it cannot be parsed, or uses what a key does not have
     */
    static KeyExpression of(String text, AnnotatedMethod method) {
        Parameters parameters = Parameters.of(method.annotatedDeclaration());
        KeyMistakes mistakes = new KeyMistakes(text, method, parameters);
        Matcher parameter = PARAMETER.matcher(text);
        int index = -1;
        SpelKey expression = null;
        if (parameter.matches()) {
            mistakes.checkVariable(parameter.group(1));
            index = parameters.indexOf(parameter.group(1));
            mistakes.checkType(index);
        } else {
            expression = SpelKey.of(text, method, parameters, mistakes);
        }
        mistakes.throwIfAny();
        return new KeyExpression(text, method, index, expression);
    }

    /**
     * Reads the key of one call.
     *
     * @throws IllegalArgumentException if it is null, or its text is not the same for equal values, or the expression fails
     */
    String read(@Nullable Object target, @Nullable Object[] arguments) {
        Object value;
        String key;
        try {
            value = expression == null ? arguments[parameter] : expression.read(target, arguments);
            key = value == null ? null : value.toString();
        } catch (RuntimeException failure) {
            throw new IllegalArgumentException(
                    "The key \"%s\" of %s cannot be read: %s".formatted(text, method, failure.getMessage()), failure);
        }
        if (value == null || key == null) {
            throw new IllegalArgumentException(
                    "The key \"%s\" of %s is null. Give such calls a key of their own, as in \"%s ?: 'anonymous'\""
                            .formatted(text, method, text));
        }
        if (!(value instanceof String) && !HAS_TEXT.get(value.getClass())) {
            throw new IllegalArgumentException(
                    "The key \"%s\" of %s is %s. Give it a part that is a text or a number, as in \"#order.id\""
                            .formatted(text, method, withoutText(value.getClass())));
        }
        return key;
    }

    static String withoutText(Class<?> type) {
        if (type.isArray()) {
            return "an array, %s: each array would be a key of its own".formatted(type.getSimpleName());
        }
        return "an object of %s, which has neither toString() nor hashCode(): each object would be a key of its own"
                .formatted(type.getName());
    }

    /** Registers what the expression calls by reflection. */
    void registerHints(ReflectionHints hints) {
        if (expression != null) {
            expression.registerHints(hints);
        }
    }

    /**
     * The parameters of a method, as expressions name them.
     *
     * @param names empty if the class was compiled without them
     */
    record Parameters(int count, List<String> names) {

        private static final Pattern POSITION = Pattern.compile("[pa](\\d{1,3})");

        static Parameters of(Method method) {
            String[] names = new DefaultParameterNameDiscoverer().getParameterNames(method);
            return new Parameters(method.getParameterCount(), names == null ? List.of() : List.of(names));
        }

        static boolean isPosition(String variable) {
            return POSITION.matcher(variable).matches();
        }

        /** Index of the parameter that a variable stands for, -1 if there is none. */
        int indexOf(String variable) {
            int named = names.indexOf(variable);
            if (named >= 0) {
                return named;
            }
            Matcher position = POSITION.matcher(variable);
            int index = position.matches() ? Integer.parseInt(position.group(1)) : -1;
            return index < count ? index : -1;
        }

        List<String> positions() {
            return IntStream.range(0, count).mapToObj("#p%s"::formatted).toList();
        }
    }

    /**
     * What {@code #root} is. Its methods are public, because expressions see no others.
     *
     * @param method the method that runs
     * @param target the object that it is called on, null if it is static
     * @param args the arguments of the call
     */
    @SuppressWarnings("ArrayRecordComponent") // it is compared with no other
    record Root(
            Method method,
            @Nullable Object target,
            @Nullable Object[] args) {

        /** Not by reflection, which a native image has for those only that an expression uses. */
        static final Set<String> NAMES = Set.of("method", "methodName", "target", "targetClass", "args");

        /** Its name. */
        public String methodName() {
            return method.getName();
        }

        /** The class of the target, null if the method is static. */
        public @Nullable Class<?> targetClass() {
            return target == null ? null : target.getClass();
        }
    }
}
