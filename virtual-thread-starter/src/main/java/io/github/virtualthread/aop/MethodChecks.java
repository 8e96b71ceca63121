package io.github.virtualthread.aop;

import io.github.virtualthread.aop.CreatedBeans.Created;
import io.github.virtualthread.aop.Findings.AdvisedMethod;
import io.github.virtualthread.aop.MethodSettings.MethodOverride;
import io.github.virtualthread.mistake.Mistake;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Finds all mistakes in the annotated methods of one class; inspects each class once. */
final class MethodChecks {

    private final AnnotatedMethods methods;
    private final SignatureChecks signatures = new SignatureChecks();
    private final SettingsChecks settings;
    private final Reach reach;
    private final Map<Created, Checked> known = new ConcurrentHashMap<>();

    MethodChecks(AnnotatedMethods methods, SettingsChecks settings, Reach reach) {
        this.methods = methods;
        this.settings = settings;
        this.reach = reach;
    }

    AnnotatedMethods methods() {
        return methods;
    }

    /** What replaces attributes of annotations, by method. */
    Map<String, MethodOverride> overrides() {
        return settings.calls().settings().overrides();
    }

    /** Checks the class of a bean. */
    Checked check(Created bean) {
        if (!methods.areIn(bean.type())) {
            return new Checked(List.of(), List.of(), List.of());
        }
        Checked checked = known.get(bean);
        if (checked == null) {
            checked = inspect(bean.type(), bean.classProxy());
            known.put(bean, checked);
        }
        return checked;
    }

    /** What is wrong with a bean: that it could not be proxied, unless a mistake in its class is the reason. */
    List<Mistake> mistakes(Created bean, @Nullable Mistake failure) {
        List<Mistake> found = check(bean).mistakes();
        return found.isEmpty() && failure != null ? List.of(failure) : found;
    }

    private Checked inspect(Class<?> type, boolean classProxy) {
        List<Mistake> mistakes = new ArrayList<>();
        List<AdvisedMethod> calls = new ArrayList<>();
        List<AnnotatedMethod> advised = new ArrayList<>();
        Stream.ofNullable(reach.checkClass(type, classProxy)).forEach(mistakes::add);
        for (AnnotatedMethod method : methods.in(type)) {
            Mistake unreachable = reach.checkMethod(method, type, classProxy);
            if (unreachable != null && !reach.requires(method)) {
                continue;
            }
            List<Mistake> found = Stream.of(
                            settings.check(method), Stream.ofNullable(unreachable), signatures.check(method, type))
                    .flatMap(each -> each)
                    .toList();
            mistakes.addAll(found);
            if (found.isEmpty()) {
                AdvisedMethod call = settings.calls().of(method);
                calls.add(call);
                advised.add(method);
                if (call.key() != null && call.limit() == null) {
                    MethodWarnings.keyWithoutLimit(method);
                }
            }
        }
        return new Checked(mistakes.stream().distinct().toList(), calls, advised);
    }

    /** Whether calls of annotated methods can be intercepted, by the means of the mode. */
    interface Reach {

        /** Why calls of a class cannot be intercepted, null if they can. */
        @Nullable
        Mistake checkClass(Class<?> type, boolean classProxy);

        /** Why calls of a method cannot be intercepted, null if they can. */
        @Nullable
        Mistake checkMethod(AnnotatedMethod method, Class<?> type, boolean classProxy);

        /** Whether a method whose calls cannot be intercepted is a mistake; otherwise the annotation does not cover it. */
        boolean requires(AnnotatedMethod method);

        /** Summarizes the mistakes of all classes; one may replace many. */
        default List<Mistake> summarize(List<Mistake> mistakes) {
            return mistakes;
        }
    }

    /**
     * Result of the checks of one class.
     *
     * @param methods those without mistakes, as they are shown
     * @param advised the same methods
     */
    record Checked(List<Mistake> mistakes, List<AdvisedMethod> methods, List<AnnotatedMethod> advised) {}
}
