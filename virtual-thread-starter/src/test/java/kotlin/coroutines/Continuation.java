package kotlin.coroutines;

/** Stands for Kotlin's own, of which only the name counts. */
public interface Continuation<T> {}
