package io.github.virtualthread.aop;

import io.github.virtualthread.mistake.Mistake;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Whether calls of annotated methods can be intercepted, by whatever means the mode has. */
interface CallChecks {

    /** What keeps a whole class from it. */
    @Nullable
    Mistake checkClass(Class<?> type, boolean classProxy);

    /** What keeps the calls of one method from it. */
    @Nullable
    Mistake checkMethod(AnnotatedMethod method, Class<?> type, boolean classProxy);

    /** Whether a method of which calls cannot be intercepted is a mistake; otherwise it is none of those that are meant. */
    boolean requires(AnnotatedMethod method);

    /** Puts the mistakes of all classes together; may put one in place of many. */
    default List<Mistake> summarize(List<Mistake> mistakes) {
        return mistakes;
    }
}
