package com.acme.weaving;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** What ran where, in this order. */
public final class Trace {

    private static final List<String> LINES = new CopyOnWriteArrayList<>();

    private Trace() {}

    public static void add(String what) {
        LINES.add(what + " on " + Thread.currentThread().getName().replaceAll("-\\d+$", ""));
    }

    public static List<String> take() {
        List<String> taken = List.copyOf(LINES);
        LINES.clear();
        return taken;
    }
}
