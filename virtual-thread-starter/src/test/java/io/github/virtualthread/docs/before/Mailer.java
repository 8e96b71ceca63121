package io.github.virtualthread.docs.before;

import io.github.virtualthread.docs.Shop.MailServer;
import io.github.virtualthread.docs.Shop.Order;
import org.springframework.scheduling.annotation.Async;
import org.springframework.stereotype.Service;

// example: MailerBefore
@Service
class Mailer {

    private final MailServer server;

    Mailer(MailServer server) {
        this.server = server;
    }

    @Async("mailExecutor")
    public void confirm(Order order) {
        server.deliver(order);
    }
}
// end
