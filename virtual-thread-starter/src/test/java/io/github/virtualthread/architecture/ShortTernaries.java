package io.github.virtualthread.architecture;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.List;

/** A ternary fits on one line. The formatter begins a line with each half of one that does not. */
final class ShortTernaries extends ArchCondition<JavaClass> {

    ShortTernaries() {
        super("have no ternary of several lines");
    }

    @Override
    public void check(JavaClass type, ConditionEvents events) {
        List<String> source = CodeLines.source(type);
        for (int line = 0; line < source.size(); line++) {
            if (source.get(line).matches("\\s+\\? (?!extends |super ).*")) {
                events.add(SimpleConditionEvent.violated(
                        type, "%s has a ternary of several lines at line %d".formatted(type.getFullName(), line + 1)));
            }
        }
    }
}
