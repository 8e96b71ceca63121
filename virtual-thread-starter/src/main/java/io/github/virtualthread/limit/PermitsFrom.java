package io.github.virtualthread.limit;

import java.io.Serializable;
import java.util.Objects;

/**
 * Where a limit takes its permits from, instead of a configured number.
 *
 * @param bean name of a bean: a {@link javax.sql.DataSource} whose pool has a known size, or a {@link PermitsSource}
 * @param headroom number of connections that are left to others, at least 0
 */
public record PermitsFrom(String bean, int headroom) implements Serializable {

    /** Requires a name. {@link LimitSettings} checks the headroom, because it can name the limit. */
    public PermitsFrom {
        Objects.requireNonNull(bean, "bean");
    }

    /** As in {@code dataSource} or {@code dataSource less 2}. */
    @Override
    public String toString() {
        return headroom == 0 ? bean : bean + " less " + headroom;
    }
}
