package io.github.virtualthread.docs.context;

import io.micrometer.context.ThreadLocalAccessor;

// example: TenantAccessor
public class TenantAccessor implements ThreadLocalAccessor<String> {

    static final ThreadLocal<String> TENANT = new ThreadLocal<>();

    @Override
    public Object key() {
        return "tenant";
    }

    @Override
    public String getValue() {
        return TENANT.get();
    }

    @Override
    public void setValue(String tenant) {
        TENANT.set(tenant);
    }

    @Override
    public void setValue() {
        TENANT.remove();
    }
}
// end
