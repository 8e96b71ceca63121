package io.github.virtualthread.context;

import io.github.virtualthread.context.CapturedContext.Scope;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContext;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.core.context.SecurityContextHolderStrategy;

/**
 * Spring Security's authentication. Each task gets a security context of its own: what a body changes in it affects neither its
 * caller nor other tasks. A class of its own because Spring Security is optional.
 */
final class SecurityCapture implements Capture {

    /** A context that all threads share need not be carried, and removing it would remove it from all of them. */
    private static final String SHARED =
            "org.springframework.security.core.context.GlobalSecurityContextHolderStrategy";

    @Override
    public CapturedContext get() {
        SecurityContextHolderStrategy holder = SecurityContextHolder.getContextHolderStrategy();
        Authentication authentication = holder.getContext().getAuthentication();
        if (authentication == null || isShared(holder)) {
            return CapturedContext.EMPTY;
        }
        return new Captured(holder, authentication);
    }

    /**
     * Reads the context even if it is a deferred one: each {@code setDeferredContext} wraps what it is given, so a thread would collect
     * wrappers, and read the context through all of them.
     */
    @Override
    public Scope hide() {
        SecurityContextHolderStrategy holder = SecurityContextHolder.getContextHolderStrategy();
        if (isShared(holder)) {
            return Scope.NOTHING;
        }
        SecurityContext found = holder.getContext();
        holder.clearContext();
        return () -> holder.setContext(found);
    }

    private static boolean isShared(SecurityContextHolderStrategy holder) {
        return holder.getClass().getName().equals(SHARED);
    }

    /** Is also the scope that it opens, because that needs the same holder. */
    private record Captured(SecurityContextHolderStrategy holder, Authentication authentication)
            implements CapturedContext, Scope {

        @Override
        public Scope open() {
            SecurityContext own = holder.createEmptyContext();
            own.setAuthentication(authentication);
            holder.setContext(own);
            return this;
        }

        @Override
        public void close() {
            holder.clearContext();
        }
    }
}
