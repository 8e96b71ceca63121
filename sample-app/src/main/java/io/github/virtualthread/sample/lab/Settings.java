package io.github.virtualthread.sample.lab;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;

/** The value of each parameter in one run, all of them within their bounds. */
public record Settings(Map<String, Integer> values) {

    /** As {@link #of(List, Map, Scale, ToIntFunction, Function)}, within the bounds of the web. */
    public static Settings of(List<Parameter> parameters, Map<String, String> chosen, Scale scale) {
        return of(parameters, chosen, scale, Parameter::max, parameter -> "'%s'".formatted(parameter.label()));
    }

    /**
     * Takes what was chosen, and the defaults for the rest.
     *
     * @param most largest value of each
     * @param shown what whoever chose it knows it by
     * @throws BadSettings with a sentence for each value that cannot be
     */
    public static Settings of(
            List<Parameter> parameters,
            Map<String, String> chosen,
            Scale scale,
            ToIntFunction<Parameter> most,
            Function<Parameter, String> shown) {
        List<String> problems = new ArrayList<>();
        Map<String, Integer> values = new LinkedHashMap<>();
        for (Parameter parameter : parameters) {
            String text = chosen.get(parameter.name());
            if (text == null) {
                values.put(parameter.name(), scale == Scale.SMALL ? parameter.small() : parameter.byDefault());
            } else {
                values.put(
                        parameter.name(),
                        parse(parameter, text, most.applyAsInt(parameter), shown.apply(parameter), problems));
            }
        }
        chosen.keySet().stream()
                .filter(name -> !values.containsKey(name))
                .forEach(name -> problems.add("There is no parameter '%s', only %s".formatted(name, values.keySet())));
        if (!problems.isEmpty()) {
            throw new BadSettings(problems);
        }
        return new Settings(Map.copyOf(values));
    }

    private static int parse(Parameter parameter, String text, int most, String shown, List<String> problems) {
        try {
            int value = Integer.parseInt(text.strip());
            if (value >= parameter.min() && value <= most) {
                return value;
            }
        } catch (NumberFormatException notANumber) {
            // told below, as what is out of bounds
        }
        problems.add(
                "%s must be a whole number from %,d to %,d, was '%s'".formatted(shown, parameter.min(), most, text));
        return parameter.byDefault();
    }

    public int get(String name) {
        Integer value = values.get(name);
        if (value == null) {
            throw new IllegalArgumentException("There is no parameter '%s', only %s".formatted(name, values.keySet()));
        }
        return value;
    }

    /** How large the experiments of a run without further choice are. */
    public enum Scale {
        NORMAL,
        SMALL
    }

    /** What was chosen cannot be. */
    public static final class BadSettings extends IllegalArgumentException {

        BadSettings(List<String> problems) {
            super(problems.stream().collect(Collectors.joining("; ")));
        }
    }
}
