package io.github.virtualthread.docs;

import io.github.virtualthread.VirtualThread;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

// example: OnDb
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@VirtualThread("db")
@interface OnDb {}
// end
