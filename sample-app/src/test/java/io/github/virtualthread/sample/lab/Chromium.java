package io.github.virtualthread.sample.lab;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Playwright;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** The Chromium that is installed, without a window. */
public final class Chromium implements AutoCloseable {

    private static final String DRIVER = "com.microsoft.playwright.impl.driver.jar.DriverJar";

    private final Playwright playwright;
    private final Browser browser;

    private Chromium(Playwright playwright, Browser browser) {
        this.playwright = playwright;
        this.browser = browser;
    }

    public static Chromium launch() {
        Playwright playwright = Playwright.create(
                new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
        Browser browser = playwright
                .chromium()
                .launch(new BrowserType.LaunchOptions()
                        .setExecutablePath(executable().orElseThrow())
                        .setArgs(List.of(
                                "--no-sandbox", // it does not start as root otherwise
                                "--disable-gpu",
                                "--disable-quic",
                                "--no-first-run",
                                "--disable-background-networking",
                                "--disable-component-update",
                                "--disable-sync")));
        return new Chromium(playwright, browser);
    }

    /** Whether there is a browser to test with, and the driver that Maven puts on the class path. */
    public static boolean isInstalled() {
        return executable().isPresent() && driverIsThere();
    }

    private static Optional<Path> executable() {
        return Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .flatMap(folder -> Stream.of(Path.of(folder, "chromium"), Path.of(folder, "chromium-browser")))
                .filter(Files::isExecutable)
                .findFirst();
    }

    private static boolean driverIsThere() {
        try {
            Class.forName(DRIVER);
            return true;
        } catch (ClassNotFoundException notByMaven) {
            return false;
        }
    }

    public Browser browser() {
        return browser;
    }

    @Override
    public void close() {
        browser.close();
        playwright.close();
    }
}
