package io.github.virtualthread.docs.migratingfromasync.before;

import io.github.virtualthread.docs.Shop.MailServer;
import io.github.virtualthread.docs.Shop.Order;
import org.springframework.scheduling.annotation.Async;
import org.springframework.stereotype.Service;

@Service
class Mailer {

    private final MailServer server;

    Mailer(MailServer server) {
        this.server = server;
    }

    // example: MailerBefore
    @Async("mailExecutor")
    public void confirm(Order order) {
        server.deliver(order);
    }
    // end
}
