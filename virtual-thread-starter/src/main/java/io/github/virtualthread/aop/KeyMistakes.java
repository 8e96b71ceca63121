package io.github.virtualthread.aop;

import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.Spelling;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import org.springframework.core.ResolvableType;
import org.springframework.expression.ExpressionException;

/** Collects what is wrong with the expression of one key. */
final class KeyMistakes {

    private final String text;
    private final AnnotatedMethod method;
    private final KeyExpression.Parameters parameters;
    private final List<Mistake> found = new ArrayList<>();

    KeyMistakes(String text, AnnotatedMethod method, KeyExpression.Parameters parameters) {
        this.text = text;
        this.method = method;
        this.parameters = parameters;
    }

    void throwIfAny() {
        if (!found.isEmpty()) {
            throw new VirtualThreadConfigurationException(found);
        }
    }

    void unreadable(RuntimeException failure) {
        String reason = failure instanceof ExpressionException known ? known.getSimpleMessage() : failure.getMessage();
        addToAnnotation(
                "cannot be parsed: " + reason,
                "Write an expression over the arguments, such as key = \"#tenant\" or \"#order.customer.id\".");
    }

    void bean(String reference) {
        addToAnnotation(
                "refers to bean %s, but a key is read from the arguments only".formatted(reference),
                "Pass the value as an argument, or make the call by hand with VirtualThreads.forKey(value).");
    }

    /** Most likely a parameter without its sign. */
    void checkProperty(String name) {
        if (!KeyExpression.Root.NAMES.contains(name)) {
            addToAnnotation(
                    "uses '%s', which is neither a parameter nor a property of #root".formatted(name),
                    "A parameter is written with #, as in key = \"#%s\"; a text in quotes, as in \"'%1$s'\"."
                            .formatted(name));
        }
    }

    /** Most likely a method of the bean. */
    void checkMethod(String name) {
        if (!KeyExpression.Root.NAMES.contains(name)) {
            addToAnnotation(
                    "calls %s(), which is not a method of #root".formatted(name),
                    "Call it on an argument, as in key = \"#order.%s()\", or on the bean, as in \"#root.target.%1$s()\"."
                            .formatted(name));
        }
    }

    void checkVariable(String name) {
        if (parameters.indexOf(name) >= 0) {
            return;
        }
        String problem = "uses #%s, but ".formatted(name);
        if (parameters.count() == 0) {
            addToMethod(
                    problem + "the method has no parameters",
                    "Remove the attribute key, or give the method a parameter.");
        } else if (KeyExpression.Parameters.isPosition(name)) {
            addToMethod(
                    problem + "the positions of the parameters are " + parameters.positions(),
                    "The first parameter is #p0.");
        } else if (parameters.names().isEmpty()) {
            addToMethod(
                    problem
                            + "%s was compiled without the names of parameters"
                                    .formatted(method.annotatedDeclaration()
                                            .getDeclaringClass()
                                            .getName()),
                    "Compile it with the option -parameters (in Kotlin -java-parameters), or write the position of the"
                            + " parameter: #p0 is the first.");
        } else {
            addToMethod(
                    problem + "the parameters are " + parameters.names(),
                    Spelling.nearest(name, parameters.names())
                            .map("Did you mean '#%s'?"::formatted)
                            .orElse("Name one of them, as in key = \"#%s\"."
                                    .formatted(parameters.names().get(0))));
        }
    }

    /** Of a parameter that is the key. A variable of a type, and an interface, say nothing of the values. */
    void checkType(int parameter) {
        if (parameter < 0) {
            return;
        }
        Class<?> type = method.annotatedDeclaration().getParameterTypes()[parameter];
        if ((type.isArray() || isConcrete(type)) && !KeyExpression.HAS_TEXT.get(type)) {
            addToMethod(
                    "is " + KeyExpression.withoutText(type),
                    "Write a part of it that is a text or a number, as in key = \"#order.id\".");
        }
    }

    /** Whether the type says what its values are. Interfaces, primitive types and arrays are abstract, too. */
    static boolean isConcrete(Class<?> type) {
        return type != Object.class && !Modifier.isAbstract(type.getModifiers());
    }

    /** Declared type of the parameter that a variable stands for; unknown if the key tells subclasses apart, which may have more. */
    ResolvableType typeOf(String variable) {
        return method.parameterType(text.contains("instanceof") ? -1 : parameters.indexOf(variable));
    }

    void unknownProperty(String name, Class<?> type, List<String> known) {
        addToMethod(
                "uses '%s', but the properties of %s are %s".formatted(name, type.getName(), known),
                Spelling.meant(name, known, "Name one of them, or call a method."));
    }

    private void addToAnnotation(String problem, String action) {
        add(method.place(), problem, action);
    }

    private void addToMethod(String problem, String action) {
        add(method.qualifiedName(), problem, action);
    }

    private void add(String place, String problem, String action) {
        found.add(new Mistake("%s: key \"%s\" of %s %s".formatted(place, text, method.annotation(), problem), action));
    }
}
