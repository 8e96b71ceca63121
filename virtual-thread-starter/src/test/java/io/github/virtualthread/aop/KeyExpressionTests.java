package io.github.virtualthread.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.OverridingClassLoader;
import org.springframework.util.ReflectionUtils;

/** Which key a call has. */
class KeyExpressionTests extends KeyedMethods {

    private final Order order = new Order(new Customer(7L, "acme"), List.of(new Customer(8L, "ajax")));

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '"',
            value = {
                "#tenant,t",
                "#p0,t",
                "#a0,t",
                "#p1,Order",
                "#order.customer.id,7",
                "#order?.customer?.name,acme",
                "#p1.customer.getName(),acme",
                "#order.others[0].name,ajax",
                "#order.others.![name],[ajax]",
                "#order.others.?[id == 8][0].name,ajax",
                "#tenant.length(),1",
                "#tenant + '-' + #a1.customer.id,t-7",
                "#root.methodName,report",
                "#root.method.name,report",
                "#root.args[0],t",
                "args[0],t",
                "methodName(),report",
                "#tenant.concat(methodName.concat(methodName)),treportreport",
                "#root.target.class.simpleName,Reports",
                "#root.targetClass.simpleName,Reports",
                "'everybody',everybody",
                "T(io.github.virtualthread.aop.KeyedMethods$Order).fixed(#tenant),fixed t"
            })
    void aKeyIsReadFromTheArguments(String text, String key) {
        KeyExpression expression = of(text);

        for (int i = 0; i < 300; i++) { // also when the expression has been compiled
            assertThat(expression.read(new Reports(), new Object[] {"t", order}))
                    .isEqualTo(key);
        }
    }

    @Test
    void aValueIsReadAsText() {
        assertThat(of("#p0").read(null, new Object[] {7L, null})).isEqualTo("7");
    }

    @Test
    void aValueWhoseTextIsAnotherForEachObjectIsNotAKey() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> of("#p0").read(null, new Object[] {new String[] {"acme"}, null}))
                .withMessageContaining("an array, String[]: each array would be a key of its own");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> of("#p0").read(null, new Object[] {new Shop(), null}))
                .withMessageContaining("neither toString() nor hashCode()");
    }

    @Test
    void valuesOfOtherTypesAreReadAfterTheExpressionHasBeenCompiled() {
        KeyExpression expression = of("#p0.toString()");
        for (int i = 0; i < 300; i++) {
            assertThat(expression.read(null, new Object[] {"t", null})).isEqualTo("t");
        }

        assertThat(expression.read(null, new Object[] {7L, null})).isEqualTo("7");
    }

    @ParameterizedTest
    @ValueSource(strings = {"#tenant", "#p0", "#order?.customer?.name"})
    void nullFailsTheCallAndTheMessageSaysWhatToWrite(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> of(text).read(new Reports(), new Object[2]))
                .withMessage(
                        "The key \"%s\" of %s is null. Give such calls a key of their own, as in \"%1$s ?: 'anonymous'\"",
                        text, REPORT);
        assertThat(of(text + " ?: 'anonymous'").read(new Reports(), new Object[2]))
                .isEqualTo("anonymous");
    }

    @Test
    void anExpressionThatFailsFailsTheCall() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> of("#order.customer.id").read(new Reports(), new Object[2]))
                .withMessageStartingWith("The key \"#order.customer.id\" of " + REPORT + " cannot be read: EL1007E")
                .withCauseInstanceOf(RuntimeException.class);
    }

    @Test
    void withoutTheNamesOfParametersOnlyPositionsWork() {
        AnnotatedMethod method = method(WithoutParameterNames.of(Reports.class), "report");

        assertThat(KeyExpression.of("#p0", method).read(null, new Object[] {"t", null}))
                .isEqualTo("t");
        assertThat(KeyExpression.of("#a1.toString()", method).read(null, new Object[] {"t", 7}))
                .isEqualTo("7");
        assertThatThrownBy(() -> KeyExpression.of("#tenant", method))
                .isInstanceOfSatisfying(
                        VirtualThreadConfigurationException.class, thrown -> assertThat(thrown.mistakes())
                                .containsExactly(new Mistake(
                                        REPORT + ": key \"#tenant\" of @VirtualThread uses #tenant, but "
                                                + Reports.class.getName()
                                                + " was compiled without the names of parameters",
                                        "Compile it with the option -parameters (in Kotlin -java-parameters), or write the"
                                                + " position of the parameter: #p0 is the first.")));
    }

    @Test
    void theNamesAreThoseOfTheMethodThatHasTheAnnotation() {
        AnnotatedMethod byInterface = method(Printer.class, "print");
        AnnotatedMethod byType = method(Printer.class, "copy");

        assertThat(KeyExpression.of("#customer", byInterface).read(null, new Object[] {"t"}))
                .isEqualTo("t");
        assertThat(KeyExpression.of("#original", byType).read(null, new Object[] {"t"}))
                .isEqualTo("t");
        assertThatThrownBy(() -> KeyExpression.of("#own", byInterface)).hasMessageContaining("[customer]");
    }

    /** So that methods with a plain key are as small and as fast as those without. */
    @Test
    void aPlainParameterNeedsNoExpressionsOfSpring() throws Exception {
        ClassLoader withoutExpressions = new OverridingClassLoader(getClass().getClassLoader()) {

            @Override
            protected boolean isEligibleForOverriding(String name) {
                return name.startsWith("io.github.virtualthread.aop.");
            }

            @Override
            public Class<?> loadClass(String name) throws ClassNotFoundException {
                if (name.startsWith("org.springframework.expression.")) {
                    throw new ClassNotFoundException(name);
                }
                return super.loadClass(name);
            }
        };
        var plain = withoutExpressions.loadClass(Plain.class.getName()).getDeclaredMethod("read", String.class);
        ReflectionUtils.makeAccessible(plain);

        assertThat(plain.invoke(null, "#tenant")).isEqualTo("t");
        assertThatThrownBy(() -> plain.invoke(null, "#tenant.length()")).hasCauseInstanceOf(NoClassDefFoundError.class);
    }

    static class Plain {

        static String read(String text) {
            return KeyExpression.of(text, method(Reports.class, "report")).read(null, new Object[] {"t", null});
        }
    }

    private static KeyExpression of(String text) {
        return KeyExpression.of(text, method(Reports.class, "report"));
    }

    interface Prints<T> {

        @VirtualThread
        void print(T customer);
    }

    @VirtualThread
    interface Copies {

        void copy(String original);
    }

    static class Printer implements Prints<String>, Copies {

        @Override
        public void print(String own) {}

        @Override
        public void copy(String own) {}
    }
}
