package com.acme.weaving;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** For the aspects of the application. */
@Retention(RetentionPolicy.RUNTIME)
public @interface Traced {}
