package io.github.virtualthread.sample.lab.experiment;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** A profile wants a database server whose program is not there. */
final class MissingServer extends IllegalStateException {

    private final String action;

    MissingServer(String server, String profile) {
        super(
                "Profile '%s' starts %s for the experiments 'scarce-resource', 'database-stops' and 'client-gone', but its program for this system is not on the class path"
                        .formatted(profile, server));
        this.action =
                ("Start by: mvn spring-boot:run -Dspring-boot.run.profiles=%s , which also loads the program, where there"
                                + " is one for this system. Without the profile, they run on H2.")
                        .formatted(profile);
    }

    /** Tells it without a stack. */
    static final class Analyzer extends AbstractFailureAnalyzer<MissingServer> {

        @Override
        protected FailureAnalysis analyze(Throwable root, MissingServer missing) {
            return new FailureAnalysis(missing.getMessage(), missing.action, root);
        }
    }
}
