package io.github.virtualthread.config;

import io.github.virtualthread.interceptor.Mistake;
import io.github.virtualthread.interceptor.VirtualThreadConfigurationException;
import java.util.List;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.AdviceModeImportSelector;

/** Chooses the configuration for the mode of {@link EnableVirtual}. */
final class VirtualThreadSelector extends AdviceModeImportSelector<EnableVirtual> {

    @Override
    protected String[] selectImports(AdviceMode mode) {
        if (mode == AdviceMode.ASPECTJ) {
            throw new VirtualThreadConfigurationException(List.of(new Mistake(
                    "@EnableVirtual asks for mode ASPECTJ, but only mode PROXY is available in this version",
                    "Remove mode = AdviceMode.ASPECTJ from @EnableVirtual.")));
        }
        return new String[] {EngineConfiguration.class.getName(), VirtualThreadRegistrar.class.getName()};
    }
}
