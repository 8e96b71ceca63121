package io.github.virtualthread.docs.migratingfromasync.after;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.docs.Shop.MailServer;
import io.github.virtualthread.docs.Shop.Order;
import org.springframework.stereotype.Service;

@Service
class Mailer {

    private final MailServer server;

    Mailer(MailServer server) {
        this.server = server;
    }

    // example: MailerAfter
    @VirtualThread("mail")
    public void confirm(Order order) {
        server.deliver(order);
    }
    // end
}
