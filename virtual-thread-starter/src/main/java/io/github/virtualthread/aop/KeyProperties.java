package io.github.virtualthread.aop;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.support.ReflectivePropertyAccessor;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringUtils;

/**
 * Checks that the properties of parameters exist, as in {@code #order.customer.id}: as far as declared types say what the values are,
 * and looked up as Spring looks them up.
 */
final class KeyProperties extends ReflectivePropertyAccessor {

    /** Expressions look into their values, too. */
    private static final Set<Class<?>> TRANSPARENT = Set.of(Class.class, Optional.class);

    /** Checks a path that begins with a variable, up to the first step that is not a property. */
    static void check(SpelNode path, String variable, KeyMistakes mistakes) {
        KeyProperties lookup = new KeyProperties(); // keeps classes in a cache
        ResolvableType type = mistakes.typeOf(variable);
        for (int i = 1; i < path.getChildCount() && isKnown(type.toClass()); i++) {
            if (!(path.getChild(i) instanceof PropertyOrFieldReference property)) {
                return;
            }
            ResolvableType next = lookup.property(type, property.getName());
            if (next == null) {
                mistakes.unknownProperty(property.getName(), type.toClass(), properties(type.toClass()));
                return;
            }
            type = next;
        }
    }

    private static boolean isKnown(Class<?> type) {
        return KeyMistakes.isConcrete(type) && !TRANSPARENT.contains(type);
    }

    private @Nullable ResolvableType property(ResolvableType of, String name) {
        Method getter = findGetterForProperty(name, of.toClass(), false);
        if (getter != null) {
            return ResolvableType.forType(getter.getGenericReturnType(), of);
        }
        Field field = findField(name, of.toClass(), false);
        return field == null ? null : ResolvableType.forType(field.getGenericType(), of);
    }

    private static List<String> properties(Class<?> type) {
        Stream<String> methods = Arrays.stream(type.getMethods())
                .filter(each -> each.getParameterCount() == 0
                        && each.getReturnType() != void.class
                        && !ReflectionUtils.isObjectMethod(each))
                .map(each -> each.getName().replaceFirst("^(get|is)(?=\\p{Lu})", ""))
                .map(StringUtils::uncapitalizeAsProperty);
        Stream<String> fields = Arrays.stream(type.getFields()).map(Field::getName);
        return Stream.concat(methods, fields).distinct().sorted().toList();
    }
}
