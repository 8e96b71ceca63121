package io.github.virtualthread;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Nobody's API: the type or the member is public because other packages of this project need it. It may change or go in any
 * release. What is public and has no such mark changes only as semantic versioning allows.
 *
 * <p>The mark of a type covers its members and the types nested in it. It is in the class file, and not there at run time.
 */
@Internal
@Target({ElementType.TYPE, ElementType.CONSTRUCTOR, ElementType.METHOD})
@Retention(RetentionPolicy.CLASS)
@Documented
public @interface Internal {}
