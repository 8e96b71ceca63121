package io.github.virtualthread.docs.limits;

import io.github.virtualthread.limit.PermitsSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

// example: PartnerClients
@Configuration
class PartnerClients {

    @Bean
    PermitsSource partnerPool(PartnerConnections connections) {
        return connections::maximum; // and virtual-thread.limits.partner.permits-from: partnerPool
    }
}
// end

interface PartnerConnections {

    int maximum();
}
