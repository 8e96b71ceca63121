package io.github.virtualthread.limit;

import io.github.virtualthread.limit.TaskLimit.KeyUse;

/**
 * A line with a weight, by deficit round robin: it gets its weight as credit when it comes to the front without credit for a
 * request, and each request that goes costs 1. So one of weight 3 has three requests a turn, and one of weight 0.1 has one in ten
 * turns.
 */
final class WeightedLine extends KeyTurns.Line {

    private float weight;
    private float credit;

    WeightedLine(String key, double weight) {
        super(key);
        this.weight = (float) weight;
    }

    @Override
    Double weight() {
        return Double.valueOf(Float.toString(weight)); // as it was written
    }

    @Override
    void setWeight(double weight) {
        this.weight = (float) weight;
    }

    @Override
    int share(int number) {
        return number == 0 || number == LimitSettings.UNBOUNDED ? number : Math.max(1, Math.round(number * weight));
    }

    @Override
    boolean hasTurn() {
        credit += credit < 1 ? weight : 0;
        return credit >= 1;
    }

    @Override
    boolean goesOn() {
        credit--;
        return credit >= 1;
    }

    @Override
    void emptied() {
        credit = 0;
    }

    @Override
    KeyUse use(String name) {
        KeyUse use = super.use(name);
        return new KeyUse(name, use.running(), use.waiting(), weight());
    }
}
