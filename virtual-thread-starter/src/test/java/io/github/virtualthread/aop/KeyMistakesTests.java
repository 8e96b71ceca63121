package io.github.virtualthread.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.Limited;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Expressions of keys that fail the start, and what may be right and does not. */
class KeyMistakesTests extends KeyedMethods {

    @Test
    void aParameterOfSuchATypeIsAMistake() {
        assertThatThrownBy(() -> KeyExpression.of("#names", method(Lists.class, "byNames")))
                .isInstanceOf(VirtualThreadConfigurationException.class)
                .hasMessageContaining("is an array, String[]");
        assertThatThrownBy(() -> KeyExpression.of("#shop", method(Lists.class, "byShop")))
                .isInstanceOf(VirtualThreadConfigurationException.class)
                .hasMessageContaining("is an object of " + Shop.class.getName());
        assertThat(KeyExpression.of("#ids", method(Lists.class, "byIds")).read(null, new Object[] {List.of(1, 2)}))
                .isEqualTo("[1, 2]");
        assertThat(KeyExpression.of("#id", method(Lists.class, "byId")).read(null, new Object[] {7}))
                .isEqualTo("7");
    }

    static class Lists {

        @Limited("db")
        void byNames(String... names) {}

        @Limited("db")
        void byShop(Shop shop) {}

        @Limited("db")
        void byIds(List<Integer> ids) {}

        @Limited("db")
        void byId(int id) {}
    }

    @Test
    void aVariableThatIsNoParameterIsAMistakeThatListsTheParameters() {
        assertThat(mistakes("#tenat"))
                .containsExactly(new Mistake(
                        REPORT
                                + ": key \"#tenat\" of @VirtualThread uses #tenat, but the parameters are [tenant, order]",
                        "Did you mean '#tenant'?"));
        assertThat(mistakes("#user + #odrer.id"))
                .containsExactly(
                        new Mistake(
                                REPORT
                                        + ": key \"#user + #odrer.id\" of @VirtualThread uses #user, but the parameters are"
                                        + " [tenant, order]",
                                "Name one of them, as in key = \"#tenant\"."),
                        new Mistake(
                                REPORT
                                        + ": key \"#user + #odrer.id\" of @VirtualThread uses #odrer, but the parameters are"
                                        + " [tenant, order]",
                                "Did you mean '#order'?"));
        assertThat(mistakes("#result")).hasSize(1);
        assertThat(mistakes("#root")).hasSize(1);
        assertThat(mistakes("#tenantOf(#tenant)")).hasSize(1);
    }

    @Test
    void aPropertyThatTheTypeOfAParameterDoesNotHaveIsAMistakeThatListsThoseItHas() {
        assertThat(mistakes("#order.custmer.id", "ship"))
                .containsExactly(new Mistake(
                        Shipping.class.getName()
                                + ".ship: key \"#order.custmer.id\" of @Limited uses 'custmer', but the"
                                + " properties of " + Order.class.getName() + " are [customer, others]",
                        "Did you mean 'customer'?"));
        assertThat(mistakes("'a' + #p0?.customer?.nam ?: 'none'", "ship"))
                .containsExactly(new Mistake(
                        Shipping.class.getName() + ".ship: key \"'a' + #p0?.customer?.nam ?: 'none'\" of @Limited uses"
                                + " 'nam', but the properties of " + Customer.class.getName() + " are [id, name]",
                        "Did you mean 'name'?"));
        assertThat(mistakes("#order.region", "ship"))
                .extracting(Mistake::action)
                .containsExactly("Name one of them, or call a method.");
        assertThat(mistakes("#box.content.nam", "unpack")).hasSize(1);
    }

    /** Values of these types, or what follows, may have more properties than is known at the start. */
    @ParameterizedTest
    @CsvSource({
        "#order.customer.id, ship",
        "#order.customer.class.simpleName, ship",
        "#order.others.custmer, ship",
        "#order.others[0].custmer, ship",
        "#order.customer.getName().lenth, ship",
        "#order.customer instanceof T(Integer) ? #order.special : 1, ship",
        "#any.custmer, others",
        "#list.first, others",
        "#type.MAX_VALUE, others",
        "#found.custmer, others",
        "#shape.radius, others",
        "#box.content.name, unpack",
        "#box.URL, unpack",
        "#box.xAxis, unpack",
        "#box.open, unpack"
    })
    void whatMayBeAPropertyIsNoMistake(String key, String method) {
        assertThat(mistakes(key, method)).isEmpty();
    }

    static class Shipping {

        @Limited("mail")
        void ship(Order order) {}

        @Limited("mail")
        void others(Object any, List<Order> list, Class<?> type, Optional<Order> found, Shape shape) {}

        @Limited("mail")
        void unpack(Box<Customer> box) {}
    }

    abstract static class Shape {}

    public static class Box<T> {

        public final boolean open = true;
        private final T content;

        Box(T content) {
            this.content = content;
        }

        public T getContent() {
            return content;
        }

        public String getURL() {
            return "";
        }

        public int getXAxis() {
            return 0;
        }
    }

    private static List<Mistake> mistakes(String key, String method) {
        return mistakes(key, method(Shipping.class, method));
    }

    @Test
    void aPositionBeyondTheParametersIsAMistake() {
        assertThat(mistakes("#p2"))
                .containsExactly(new Mistake(
                        REPORT
                                + ": key \"#p2\" of @VirtualThread uses #p2, but the positions of the parameters are [#p0, #p1]",
                        "The first parameter is #p0."));
        assertThat(mistakes("#a10.id")).singleElement().satisfies(mistake -> assertThat(mistake.description())
                .contains("uses #a10, but the positions of the parameters are [#p0, #p1]"));
    }

    @Test
    void aMethodWithoutParametersHasNoKeyOfThem() {
        assertThatThrownBy(() -> KeyExpression.of("#tenant", method(Reports.class, "all")))
                .isInstanceOfSatisfying(VirtualThreadConfigurationException.class, thrown -> assertThat(
                                thrown.mistakes())
                        .containsExactly(new Mistake(
                                Reports.class.getName() + ".all: key \"#tenant\" of @Limited uses #tenant, but the"
                                        + " method has no parameters",
                                "Remove the attribute key, or give the method a parameter.")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"#tenant.", "#order.customer.", "#{tenant}", "#tenant; #order", "'open", "#"})
    void anExpressionThatCannotBeParsedIsAMistake(String text) {
        assertThat(mistakes(text)).singleElement().satisfies(mistake -> {
            assertThat(mistake.description())
                    .startsWith(REPORT + ": key \"" + text + "\" of @VirtualThread cannot be parsed: ")
                    .doesNotEndWith("null");
            assertThat(mistake.action())
                    .isEqualTo(
                            "Write an expression over the arguments, such as key = \"#tenant\" or \"#order.customer.id\".");
        });
    }

    @Test
    void aBeanIsAMistake() {
        assertThat(mistakes("@tenants.current(#tenant)"))
                .containsExactly(new Mistake(
                        REPORT
                                + ": key \"@tenants.current(#tenant)\" of @VirtualThread refers to bean @tenants, but a key is"
                                + " read from the arguments only",
                        "Pass the value as an argument, or make the call by hand with VirtualThreads.forKey(value)."));
    }

    @Test
    void aParameterWithoutItsSignIsAMistake() {
        assertThat(mistakes("tenant"))
                .containsExactly(
                        new Mistake(
                                REPORT
                                        + ": key \"tenant\" of @VirtualThread uses 'tenant', which is neither a parameter nor a property"
                                        + " of #root",
                                "A parameter is written with #, as in key = \"#tenant\"; a text in quotes, as in \"'tenant'\"."));
        assertThat(mistakes("order.customer.id")).singleElement().satisfies(mistake -> assertThat(mistake.action())
                .contains("key = \"#order\""));
    }

    @Test
    void aMethodWithoutWhatItIsCalledOnIsAMistake() {
        assertThat(mistakes("tenantOf(#order)"))
                .containsExactly(new Mistake(
                        REPORT
                                + ": key \"tenantOf(#order)\" of @VirtualThread calls tenantOf(), which is not a method of #root",
                        "Call it on an argument, as in key = \"#order.tenantOf()\", or on the bean, as in"
                                + " \"#root.target.tenantOf()\"."));
        assertThat(mistakes("#tenant.concat(suffix())")).hasSize(1);
        assertThat(mistakes("#order.others.![name.concat(toString())]")).isEmpty();
    }

    private static List<Mistake> mistakes(String text) {
        return mistakes(text, method(Reports.class, "report"));
    }

    private static List<Mistake> mistakes(String text, AnnotatedMethod method) {
        try {
            KeyExpression.of(text, method);
            return List.of();
        } catch (VirtualThreadConfigurationException wrong) {
            return wrong.mistakes();
        }
    }
}
