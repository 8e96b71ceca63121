package io.github.virtualthread.limit;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A call under a limit that has a model. It notes when it begins. */
final class ModelledCall extends Call {

    final AdmissionModel model;
    final @Nullable String key;
    final @Nullable AdmissionModel held;
    final long number;
    private final List<ModelledCall> begun;

    ModelledCall(AdmissionModel model, @Nullable String key, @Nullable AdmissionModel held, List<ModelledCall> begun) {
        super(model.limit, key, held == null ? null : held.limit);
        this.model = model;
        this.key = key;
        this.held = held;
        this.begun = begun;
        number = model.nextNumber();
    }

    @Override
    protected void granted() {
        begun.add(this);
    }

    @Override
    public String toString() {
        return "%d %s %s%s"
                .formatted(number, model.limit.name(), key, held == null ? "" : " holding " + held.limit.name());
    }
}
