package io.github.virtualthread.aop;

import io.github.virtualthread.mistake.Mistake;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** Finds all mistakes in the annotated methods of one class; looks at each class once. */
final class MethodChecks {

    private final AnnotatedMethods methods;
    private final SignatureChecks signatures = new SignatureChecks();
    private final CallChecks reach;
    private final LimitChecks limits;
    private final TimeoutChecks timeouts;
    private final Map<Key, Checked> known = new ConcurrentHashMap<>();

    MethodChecks(AnnotatedMethods methods, LimitChecks limits, TimeoutChecks timeouts, CallChecks reach) {
        this.methods = methods;
        this.reach = reach;
        this.limits = limits;
        this.timeouts = timeouts;
    }

    /**
     * Checks a class.
     *
     * @param type class of a bean, or an interface where no more is known
     * @param classProxy whether its proxy is a subclass rather than an implementation of its interfaces
     */
    Findings check(Class<?> type, boolean classProxy) {
        return checked(type, classProxy).findings();
    }

    /** The methods of a class in which no mistake was found. */
    List<AnnotatedMethod> advised(Class<?> type, boolean classProxy) {
        return checked(type, classProxy).advised();
    }

    private Checked checked(Class<?> type, boolean classProxy) {
        Class<?> user = TypeHierarchy.userClass(type);
        if (methods.in(user).isEmpty()) {
            return Checked.NOTHING;
        }
        Key key = new Key(user, classProxy);
        Checked checked = known.get(key);
        if (checked == null) {
            checked = inspect(user, classProxy);
            known.put(key, checked);
        }
        return checked;
    }

    private Checked inspect(Class<?> type, boolean classProxy) {
        List<Mistake> mistakes = new ArrayList<>();
        List<AnnotatedCall> calls = new ArrayList<>();
        List<AnnotatedMethod> advised = new ArrayList<>();
        Mistake ofClass = reach.checkClass(type, classProxy);
        if (ofClass != null) {
            mistakes.add(ofClass);
        }
        for (AnnotatedMethod method : methods.in(type)) {
            Mistake unreachable = reach.checkMethod(method, type, classProxy);
            if (unreachable != null && !reach.requires(method)) {
                continue;
            }
            List<Mistake> found = Stream.of(
                            Stream.of(limits.check(method), timeouts.check(method)),
                            Stream.of(unreachable),
                            signatures.check(method, type))
                    .flatMap(each -> each)
                    .filter(mistake -> mistake != null)
                    .toList();
            mistakes.addAll(found);
            if (found.isEmpty()) {
                CallSettings settings = limits.settings(method);
                calls.add(new AnnotatedCall(
                        method.qualifiedName(), settings.name(), settings.limit(), settings.timeout()));
                advised.add(method);
            }
        }
        return new Checked(new Findings(mistakes.stream().distinct().toList(), calls, List.of()), advised);
    }

    private record Key(Class<?> type, boolean classProxy) {}

    private record Checked(Findings findings, List<AnnotatedMethod> advised) {

        static final Checked NOTHING = new Checked(Findings.NONE, List.of());
    }
}
