package io.github.virtualthread.docs.web;

import io.github.virtualthread.web.RequestKey;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

// example: TenantOfRequest
@Component
class TenantOfRequest implements RequestKey {

    @Override
    public @Nullable Object key(HttpServletRequest request) {
        return request.getHeader("X-Tenant"); // null: no key
    }
}
// end
