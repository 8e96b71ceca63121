package io.github.virtualthread.architecture;

import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;

/**
 * Parameters that the source has: what the compiler adds does not count, such as the object around, and neither does a method that it
 * adds. A record gives names to what it takes, and an operation of an endpoint takes each field of a request as a parameter.
 */
final class FewParameters extends ArchCondition<JavaCodeUnit> {

    private static final String OPERATIONS = "org.springframework.boot.actuate.endpoint.annotation";

    private final int most;

    FewParameters(int most) {
        super("have at most %d parameters", most);
        this.most = most;
    }

    @Override
    public void check(JavaCodeUnit unit, ConditionEvents events) {
        if (unit.getRawParameterTypes().size() > most
                && !unit.getModifiers().contains(JavaModifier.SYNTHETIC)
                && !isOperation(unit)) {
            Executable written = (Executable) unit.reflect();
            long parameters = Arrays.stream(written.getParameters())
                    .filter(parameter -> !parameter.isImplicit() && !parameter.isSynthetic())
                    .count();
            if (parameters > most && !isCanonical(written)) {
                events.add(SimpleConditionEvent.violated(
                        unit, "%s has %d parameters".formatted(unit.getFullName(), parameters)));
            }
        }
    }

    private static boolean isOperation(JavaCodeUnit unit) {
        return unit.getAnnotations().stream()
                .anyMatch(annotation -> annotation.getRawType().getPackageName().equals(OPERATIONS));
    }

    /** Whether it is the constructor of all components of a record. */
    private static boolean isCanonical(Executable written) {
        RecordComponent[] components = written.getDeclaringClass().getRecordComponents();
        return components != null
                && written instanceof Constructor
                && Arrays.equals(
                        written.getParameterTypes(),
                        Arrays.stream(components).map(RecordComponent::getType).toArray());
    }
}
