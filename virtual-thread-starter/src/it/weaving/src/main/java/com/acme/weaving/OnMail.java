package com.acme.weaving;

import io.github.virtualthread.VirtualThread;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

@VirtualThread("mail")
@Retention(RetentionPolicy.RUNTIME)
public @interface OnMail {}
