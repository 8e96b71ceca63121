package com.acme.shop;

import org.springframework.context.ApplicationEventPublisher;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

@Component
public class Orders {

    private final JdbcTemplate jdbc;
    private final ApplicationEventPublisher events;

    Orders(JdbcTemplate jdbc, ApplicationEventPublisher events) {
        this.jdbc = jdbc;
        this.events = events;
    }

    @Transactional
    public void place(int number) {
        jdbc.update("insert into orders (number) values (?)", number);
        events.publishEvent(new OrderPlaced(number)); // is kept if the order is, and only then
    }
}
