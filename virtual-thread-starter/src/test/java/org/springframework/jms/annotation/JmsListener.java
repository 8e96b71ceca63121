package org.springframework.jms.annotation;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** Stands for Spring's own, of which only the name counts. */
@Retention(RetentionPolicy.RUNTIME)
public @interface JmsListener {}
