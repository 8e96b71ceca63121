package kotlin;

/** Stands for Kotlin's own, of which only the name counts. */
public final class Unit {}
