package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.DocumentContext;
import com.jayway.jsonpath.JsonPath;
import io.github.virtualthread.autoconfigure.properties.VirtualThreadProperties;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URL;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What an editor needs to complete application.yml. */
class MetadataTests {

    @Test
    void limitNamesHaveHints() throws IOException {
        List<String> hints = metadata().read("$.hints[*].name");

        assertThat(hints).contains("virtual-thread.limits.keys", "virtual-thread.default-limit");
    }

    @Test
    void everyHintIsForAPropertyThatExists() throws IOException {
        List<String> hints = metadata().read("$.hints[*].name");
        List<String> properties = metadata().read("$.properties[*].name");

        assertThat(hints).allSatisfy(hint -> assertThat(properties).contains(hint.replaceFirst("\\.keys$", "")));
    }

    @Test
    void everyPropertyHasADescription() throws IOException {
        List<Map<String, Object>> properties = metadata().read("$.properties");

        assertThat(properties).isNotEmpty().allSatisfy(property -> assertThat(property.get("description"))
                .asString()
                .isNotBlank());
    }

    /** Other jars have a resource of that name too. */
    private static DocumentContext metadata() throws IOException {
        URL classes = VirtualThreadProperties.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation();
        try (InputStream input = URI.create(classes + "META-INF/spring-configuration-metadata.json")
                .toURL()
                .openStream()) {
            return JsonPath.parse(input);
        }
    }
}
