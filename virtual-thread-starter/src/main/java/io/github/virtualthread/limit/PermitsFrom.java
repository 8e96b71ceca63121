package io.github.virtualthread.limit;

import java.io.Serializable;
import java.util.Objects;

/**
 * Where a limit takes its permits from, instead of a number.
 *
 * @param bean name of a bean: a {@link javax.sql.DataSource} whose pool has a known size, or a {@link PermitsSource}
 * @param headroom how many connections of the pool are left to others, at least 0
 */
public record PermitsFrom(String bean, int headroom) implements Serializable {

    /** Needs a name; the headroom is checked by {@link LimitSettings}, which can name the limit. */
    public PermitsFrom {
        Objects.requireNonNull(bean, "bean");
    }

    /** As in {@code dataSource} or {@code dataSource less 2}. */
    @Override
    public String toString() {
        return headroom == 0 ? bean : bean + " less " + headroom;
    }
}
