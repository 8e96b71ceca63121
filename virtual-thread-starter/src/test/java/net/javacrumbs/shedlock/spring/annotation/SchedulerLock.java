package net.javacrumbs.shedlock.spring.annotation;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** Stands for ShedLock's own, of which only the name counts. */
@Retention(RetentionPolicy.RUNTIME)
public @interface SchedulerLock {}
