package com.acme.shop;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.modulith.events.ApplicationModuleListener;
import org.springframework.stereotype.Component;

@Component
public class Confirmations {

    private final JdbcTemplate jdbc;
    private final MailServer mailServer;

    Confirmations(JdbcTemplate jdbc, MailServer mailServer) {
        this.jdbc = jdbc;
        this.mailServer = mailServer;
    }

    @ApplicationModuleListener // @Async: it waits under the limit
    public void confirm(OrderPlaced order) {
        String confirm = "insert into confirmations (number) values (?) on conflict do nothing";
        if (jdbc.update(confirm, order.number()) == 1) { // an event may come twice
            mailServer.send(order.number());
        }
    }
}
