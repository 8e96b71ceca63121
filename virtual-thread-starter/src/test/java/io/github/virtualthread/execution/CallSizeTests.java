package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.execution.CallerTrace.TracedTask;
import io.github.virtualthread.execution.TaskDecorators.DecoratedBody;
import io.github.virtualthread.limit.KeyedPlace;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What each call that waits takes of the heap. A field more than fits is 8 bytes for each of a million calls. */
@Timeout(300)
@Tag("jdk")
class CallSizeTests {

    @Test
    void aTaskHasNoRoomForAnotherField() throws Exception {
        assertThat(bytes(Task.class)).isEqualTo(72);
        assertThat(bytes(TaskFuture.class)).isEqualTo(24);
    }

    @Test
    void noCallIsLargerThanItsNeedsAre() throws Exception {
        assertThat(bytes(TracedTask.class)).isEqualTo(80);
        assertThat(bytes(CallerTask.class)).isEqualTo(64);
        assertThat(bytes(Class.forName(FanOut.class.getName() + "$Child"))).isEqualTo(88);
        assertThat(bytes(DecoratedBody.class)).isEqualTo(40);
    }

    @Test
    void aCallWithAKeyHasARecipeAndAPlaceOfItsOwn() {
        assertThat(bytes(EngineSpec.class)).isEqualTo(40);
        assertThat(bytes(KeyedPlace.class)).isEqualTo(40);
    }

    @Test
    void theLineOfAKeyIsLargerOnlyWhereKeysHaveWeights() throws Exception {
        String limits = KeyedPlace.class.getPackageName();
        assertThat(bytes(Class.forName(limits + ".KeyTurns$Line"))).isEqualTo(48);
        assertThat(bytes(Class.forName(limits + ".WeightedLine"))).isEqualTo(56);
    }

    /** With compressed references, as in any heap below 32 GB, and with headers of 12 bytes. */
    private static int bytes(Class<?> type) {
        int fields = 0;
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            fields += Stream.of(each.getDeclaredFields())
                    .filter(field -> !Modifier.isStatic(field.getModifiers()))
                    .mapToInt(CallSizeTests::bytes)
                    .sum();
        }
        return (12 + fields + 7) / 8 * 8;
    }

    private static int bytes(Field field) {
        Class<?> type = field.getType();
        if (type == long.class || type == double.class) {
            return 8;
        }
        if (type == byte.class || type == boolean.class) {
            return 1;
        }
        return 4;
    }
}
