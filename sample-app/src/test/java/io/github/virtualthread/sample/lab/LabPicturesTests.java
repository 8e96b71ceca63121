package io.github.virtualthread.sample.lab;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.BoundingBox;
import com.microsoft.playwright.options.ColorScheme;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.stream.Collectors;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Takes the pictures of README and docs, and puts them into {@code sample-app/docs/images}: only with {@code -Dscreenshots.write=true}. What
 * they show is tested elsewhere, and they take half a minute.
 */
@BrowserTest
@EnabledIfSystemProperty(named = "screenshots.write", matches = "true")
class LabPicturesTests extends InBrowser {

    private static final Path IMAGES = Path.of("docs", "images");
    private static final int WIDTH = 1200;
    private static final int MOST_BYTES = 160_000;

    @BeforeEach
    void fitAReadme() {
        page.setViewportSize(WIDTH, 900);
    }

    @Test
    void theHeadOfThePageWithItsFirstAnswer() throws IOException {
        runSmall("pool-or-virtual");

        show(page.locator(".top"), card.locator("figure").first());
        keep("head");
    }

    @Test
    void aLimitWithMarksWhereItChanged() throws IOException {
        card = page.locator("#limit-while-it-runs");
        fill(Map.of("seconds", "4"));
        run();
        assertThat(card.locator(".step")).hasText("20 permits");
        Locator slider = card.getByLabel("Permits of the limit lab");
        page.waitForFunction(
                "card => Chart.getChart(card.querySelector('canvas')).data.datasets[0].data.at(-1).x > 6",
                card.elementHandle());
        slider.fill("12");
        waitForAnswer();

        assertThat(card.locator(".marks li")).hasCount(3);
        show(card.locator(".result"), card.locator(".table"));
        keep("limit-while-it-runs");
    }

    @Test
    void aScarceResourceInStackedAreas() throws IOException {
        runSmall("scarce-resource");

        Locator charts = card.locator("figure.small");
        assertThat(charts.first()).containsText("failed");
        show(card.locator(".alike"), charts.nth(3));
        keep("scarce-resource");
        page.emulateMedia(new Page.EmulateMediaOptions().setColorScheme(ColorScheme.DARK));
        show(charts.nth(4), charts.nth(7));
        keep("dark");
    }

    @Test
    void aTenantThatFloodsBesideOthers() throws IOException {
        card = page.locator("#one-tenant-floods");
        fill(Map.of("rounds", "1"));
        run();
        waitForAnswer();

        Locator figures = card.locator("figure:not([hidden])");
        show(figures.first(), figures.last());
        keep("one-tenant-floods");
    }

    @Test
    void aDoorBeforeAPool() throws IOException {
        card = page.locator("#the-door");
        fill(Map.of("rounds", "1"));
        run();
        waitForAnswer();

        Locator figures = card.locator("figure:not([hidden])");
        show(figures.first(), figures.last());
        keep("the-door");
    }

    @Test
    void replicasOfWhichOneIsKilled() throws IOException {
        card = page.locator("#three-replicas");
        fill(Map.of("rounds", "1"));
        run();
        waitForAnswer();

        show(card.locator(".alike"), card.locator("figure.small").last());
        keep("three-replicas");
    }

    private void runSmall(String id) {
        card = page.locator("#" + id);
        About about = lab.experiments().stream()
                .filter(each -> each.id().equals(id))
                .findFirst()
                .orElseThrow();
        fill(about.parameters().stream()
                .collect(Collectors.toMap(Parameter::name, parameter -> String.valueOf(parameter.small()))));
        run();
        waitForAnswer();
    }

    /** No more than from the one to the other. */
    private void show(Locator from, Locator to) {
        double top = from.boundingBox().y;
        BoundingBox last = to.boundingBox();
        page.setViewportSize(
                WIDTH, (int) (last.y + last.height - top) + 2 * 16); // some room above, as the page has it, and below
        from.evaluate("element => element.scrollIntoView({ block: 'start', behavior: 'instant' })");
    }

    private void keep(String name) throws IOException {
        Path picture = SCREENSHOTS.resolve(name + ".png");
        // the next picture of the charts is drawn within a quarter of a second, and that of the page with the next
        // frame
        page.waitForFunction(
                "() => [...document.querySelectorAll('figure:not([hidden]) canvas')].every(each => each.ariaLabel)");
        write(page.screenshot(), picture);
        assertThat(Files.size(picture)).as(name).isLessThan(MOST_BYTES);
        Files.createDirectories(IMAGES);
        Files.copy(picture, IMAGES.resolve(name + ".png"), StandardCopyOption.REPLACE_EXISTING);
    }

    /** Without transparency, which nothing here has: the file is smaller by a sixth. */
    private static void write(byte[] screenshot, Path picture) throws IOException {
        BufferedImage taken = ImageIO.read(new ByteArrayInputStream(screenshot));
        BufferedImage opaque = new BufferedImage(taken.getWidth(), taken.getHeight(), BufferedImage.TYPE_INT_RGB);
        opaque.getGraphics().drawImage(taken, 0, 0, null);
        Files.createDirectories(picture.getParent());
        ImageIO.write(opaque, "png", picture.toFile());
    }
}
