package io.github.virtualthread.execution;

/** Names of tasks that are no method of a bean: the class in which their body is written. */
final class TaskNames {

    /** Begins the name of what is generated: lambdas, and proxies of Spring's. */
    private static final String GENERATED = "$$";

    private TaskNames() {}

    /**
     * A name as few as there are classes, so that threads and meters can carry it.
     *
     * @param body what the task runs
     * @param method method that is called on it
     * @return {@code Import.call} for a class of its own, {@code Orders.lambda} for a lambda in {@code Orders}
     */
    static String of(Object body, String method) {
        String name = body.getClass().getName();
        int end = name.indexOf(GENERATED);
        String written = end < 0 ? name : name.substring(0, end);
        return simple(written) + "."
                + (name.startsWith("Lambda", end + GENERATED.length()) && end > 0 ? "lambda" : method);
    }

    /** The last part that is a name: {@code Inner} of {@code Outer$Inner$1}. */
    private static String simple(String name) {
        String[] parts = name.substring(name.lastIndexOf('.') + 1).split("\\$");
        for (int i = parts.length - 1; i > 0; i--) {
            // a local class has a number in front
            String part = parts[i].replaceFirst("^\\d+", "");
            if (!part.isEmpty()) {
                return part;
            }
        }
        return parts.length == 0 ? name : parts[0];
    }
}
