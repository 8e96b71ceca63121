package io.github.virtualthread.context;

import io.github.virtualthread.context.ContextPropagation.ContextCapture;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContext;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.core.context.SecurityContextHolderStrategy;

/**
 * Spring Security's authentication. Each task gets a security context of its own: what a body changes in it affects neither its
 * caller nor other tasks. A class of its own because Spring Security is optional.
 */
final class SecurityCapture implements ContextCapture {

    /** A context that all threads share need not be carried, and removing it would remove it from all of them. */
    private static final String SHARED = "GlobalSecurityContextHolderStrategy";

    @Override
    public CapturedContext capture() {
        SecurityContextHolderStrategy holder = SecurityContextHolder.getContextHolderStrategy();
        Authentication authentication = holder.getContext().getAuthentication();
        if (authentication == null || holder.getClass().getSimpleName().equals(SHARED)) {
            return CapturedContext.EMPTY;
        }
        return () -> {
            SecurityContext own = holder.createEmptyContext();
            own.setAuthentication(authentication);
            holder.setContext(own);
            CapturedContext.Scope clear = holder::clearContext;
            return clear;
        };
    }
}
