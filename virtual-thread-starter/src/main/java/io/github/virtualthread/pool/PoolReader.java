package io.github.virtualthread.pool;

import io.github.virtualthread.limit.PermitsFrom;
import io.github.virtualthread.limit.PermitsSource;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.PropertyKeys;
import io.github.virtualthread.mistake.Spelling;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Supplier;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.util.ClassUtils;

/** Reads the sizes of pools, and reports what is wrong if a size cannot be read. */
record PoolReader(ListableBeanFactory beans, ObjectProvider<PoolSizes> sizes) {

    /**
     * Current number of permits that a limit takes from its pool.
     *
     * @throws VirtualThreadConfigurationException if there is none; the cause is the exception that reading the pool threw
     */
    int permits(String limit, PermitsFrom from) {
        int size = size(limit, from);
        if (size <= from.headroom()) {
            throw mistake(
                    "Limit '%s' leaves a headroom of %d for others, but the pool of bean '%s' has only %d connections"
                            .formatted(limit, from.headroom(), from.bean(), size),
                    "Set %s.headroom to at most %d, or make the pool larger."
                            .formatted(PropertyKeys.limit(limit), size - 1),
                    null);
        }
        return size - from.headroom();
    }

    /**
     * Current size of the pool, headroom included.
     *
     * @throws VirtualThreadConfigurationException as {@link #permits} does
     */
    int size(String limit, PermitsFrom from) {
        Object pool = bean(limit, from.bean());
        String type = ClassUtils.getUserClass(pool).getName();
        if (pool instanceof PermitsSource source) {
            int size = read(limit, from, "permits() of that bean", source::permits);
            if (size < 1) {
                throw mistake(
                        limit,
                        from.bean(),
                        "which returned %d, but a limit needs at least 1 permit".formatted(size),
                        "Make permits() of that bean return 1 or more, or replace %s.permits-from with permits.");
            }
            return size;
        }
        if (pool instanceof DataSource dataSource) {
            PoolSizes known = sizes.getIfAvailable();
            OptionalInt size = OptionalInt.empty();
            if (known != null) {
                size = read(limit, from, "the bean that knows the size of that pool", () -> known.sizeOf(dataSource));
            }
            return size.orElseThrow(() -> mistake(
                    limit,
                    from.bean(),
                    "a %s, but the maximum number of its connections is unknown".formatted(type),
                    "Replace %s.permits-from with permits; or declare a PermitsSource that returns the number, and name"
                            + " that bean."));
        }
        throw mistake(
                limit,
                from.bean(),
                "a %s, but only a DataSource or a PermitsSource can provide permits".formatted(type),
                "Name a bean of type DataSource; or declare a PermitsSource that returns the size of your pool, and name"
                        + " that bean; or replace %s.permits-from with permits.");
    }

    /** The bean itself: two limits draw on the same pool if this is the same object. */
    Object bean(String limit, String name) {
        if (!beans.containsBean(name)) {
            List<String> known = Stream.of(DataSource.class, PermitsSource.class)
                    .flatMap(type ->
                            Stream.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, type, true, false)))
                    .distinct()
                    .sorted()
                    .toList();
            throw mistake(
                    limit,
                    name,
                    "but there is no such bean; the beans of type DataSource or PermitsSource are " + known,
                    Spelling.question(name, known) + "Correct %s.permits-from, or replace it with permits.");
        }
        return beans.getBean(name);
    }

    private static <T> T read(String limit, PermitsFrom from, String what, Supplier<T> size) {
        try {
            return size.get();
        } catch (RuntimeException failure) {
            throw mistake(
                    "%s, which failed: %s".formatted(takes(limit, from.bean()), failure),
                    "Fix %s, or replace %s.permits-from with permits.".formatted(what, PropertyKeys.limit(limit)),
                    failure);
        }
    }

    private static String takes(String limit, String bean) {
        return "Limit '%s' takes its permits from bean '%s'".formatted(limit, bean);
    }

    private static VirtualThreadConfigurationException mistake(String limit, String bean, String what, String action) {
        return mistake(takes(limit, bean) + ", " + what, action.replace("%s", PropertyKeys.limit(limit)), null);
    }

    private static VirtualThreadConfigurationException mistake(
            String description, String action, @Nullable RuntimeException cause) {
        VirtualThreadConfigurationException exception =
                new VirtualThreadConfigurationException(List.of(new Mistake(description, action)));
        exception.initCause(cause);
        return exception;
    }
}
