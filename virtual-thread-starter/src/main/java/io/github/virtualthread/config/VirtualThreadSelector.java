package io.github.virtualthread.config;

import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.AdviceModeImportSelector;

/** Chooses the configuration of {@link EnableVirtual}: the same for both modes, as a property may change the mode later. */
final class VirtualThreadSelector extends AdviceModeImportSelector<EnableVirtual> {

    @Override
    protected String[] selectImports(AdviceMode mode) {
        return new String[] {EngineConfiguration.class.getName(), VirtualThreadRegistrar.class.getName()};
    }
}
