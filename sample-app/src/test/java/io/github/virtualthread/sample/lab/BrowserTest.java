package io.github.virtualthread.sample.lab;

import io.github.virtualthread.sample.SampleTest;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIf;

/** A test of the page in a real browser, where there is one. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@SampleTest
@EnabledIf(
        value = "io.github.virtualthread.sample.lab.Chromium#isInstalled",
        disabledReason = "No chromium on the PATH: install it, and run this by Maven, to have the page tested")
@Timeout(value = 15, unit = TimeUnit.MINUTES)
@Tag("slow")
@interface BrowserTest {}
