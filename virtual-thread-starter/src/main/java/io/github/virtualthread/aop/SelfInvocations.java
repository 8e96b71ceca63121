package io.github.virtualthread.aop;

import io.github.virtualthread.mistake.Mistake;
import java.io.IOException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.asm.Type;

/**
 * Finds the calls of advised methods that no proxy sees, since an object makes them to itself. Looks into the bytecode of the
 * class, its superclasses and interfaces, except those of Java and of Spring; reads each once.
 *
 * <p>Not thread-safe.
 */
final class SelfInvocations {

    private static final Logger logger = LoggerFactory.getLogger(SelfInvocations.class);

    private final Map<Class<?>, ClassFile> read = new HashMap<>();

    /**
     * Finds the calls that objects of one class make.
     *
     * @param type class of a bean
     * @param classProxy whether its proxy is a subclass rather than an implementation of its interfaces
     * @param advised methods of the class that its proxy advises
     */
    Set<Mistake> in(Class<?> type, boolean classProxy, List<AnnotatedMethod> advised) {
        try {
            return advised.isEmpty() ? Set.of() : find(type, classProxy, advised);
        } catch (IOException | RuntimeException | LinkageError failure) {
            logger.debug(
                    "Calls that {} makes to itself are not found: a class file cannot be read",
                    type.getName(),
                    failure);
            return Set.of();
        }
    }

    private Set<Mistake> find(Class<?> type, boolean classProxy, List<AnnotatedMethod> advised) throws IOException {
        Map<String, AnnotatedMethod> targets = new HashMap<>();
        advised.forEach(method -> method.declarations().forEach(each -> targets.put(nameAndDescriptor(each), method)));
        Set<Mistake> found = new LinkedHashSet<>();
        Set<String> overridden = new HashSet<>();
        Map<Class<?>, ClassFile> files = files(type);
        if (files.values().stream().noneMatch(file -> file.mentions(targets.keySet()))) {
            return found;
        }
        for (Map.Entry<Class<?>, ClassFile> file : files.entrySet()) {
            Class<?> each = file.getKey();
            ClassCode code = file.getValue().code();
            for (CallOnThis call : code.calls()) {
                AnnotatedMethod target = targets.get(call.callee());
                if (target != null && !overridden.contains(call.caller())) {
                    found.add(mistake(place(each, code, call), target, classProxy ? each : provided(each, target)));
                }
            }
            overridden.addAll(code.overridable());
            // these run although they are overridden
            overridden.removeAll(code.superCalls());
        }
        return found;
    }

    private Map<Class<?>, ClassFile> files(Class<?> type) throws IOException {
        Map<Class<?>, ClassFile> files = new LinkedHashMap<>();
        for (Class<?> each : TypeHierarchy.of(type)) {
            if (hasCodeOfUsers(each)) {
                ClassFile file = read.get(each);
                if (file == null) {
                    file = ClassFile.of(each);
                    read.put(each, file);
                }
                files.put(each, file);
            }
        }
        return files;
    }

    private static boolean hasCodeOfUsers(Class<?> type) {
        return !type.getName().startsWith("java.")
                && !TypeHierarchy.isOfSpring(type)
                && (!type.isInterface()
                        || Arrays.stream(AnnotatedMethods.methodsOf(type)).anyMatch(Method::isDefault));
    }

    private static String nameAndDescriptor(Method method) {
        return method.getName() + Type.getMethodDescriptor(method);
    }

    private static StackTraceElement place(Class<?> type, ClassCode code, CallOnThis call) {
        String caller = call.caller().substring(0, call.caller().indexOf('('));
        return new StackTraceElement(type.getName(), caller, code.sourceFile(), call.line());
    }

    /** The type by which an interface proxy can be asked for. */
    private static Class<?> provided(Class<?> type, AnnotatedMethod method) {
        return method.declarations().stream()
                .<Class<?>>map(Method::getDeclaringClass)
                .filter(Class::isInterface)
                .findFirst()
                .orElse(type);
    }

    private Mistake mistake(StackTraceElement place, AnnotatedMethod target, Class<?> provided) {
        String called = target.method().getName();
        return new Mistake(
                ("%s calls %s.%s on its own object: the proxy, which applies %s, cannot see that call,"
                                + " so it stays on the caller's thread and takes no permit")
                        .formatted(place, target.method().getDeclaringClass().getName(), called, target.annotation()),
                ("Move %s to another bean; or inject ObjectProvider<%s> and call getObject().%s(..), which passes the proxy;"
                                + " or, where it is to stay on the caller's thread, call a method without %s.")
                        .formatted(called, provided.getSimpleName(), called, target.annotation()));
    }
}
