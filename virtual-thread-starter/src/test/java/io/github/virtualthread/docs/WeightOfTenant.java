package io.github.virtualthread.docs;

import io.github.virtualthread.limit.KeyWeight;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.stereotype.Component;

// example: WeightOfTenant
@Component
class WeightOfTenant implements KeyWeight {

    final Map<String, Double> paid = new ConcurrentHashMap<>(); // filled elsewhere: this must not block

    @Override
    public double of(String limit, String key) {
        return paid.getOrDefault(key, 1.0);
    }
}
// end
