package com.acme.shop;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;

@Service
public class Stock {

    private final JdbcTemplate jdbc;

    Stock(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    @VirtualThread("db")
    public CompletableFuture<String> count() {
        return completedFuture("%d on %s"
                .formatted(
                        jdbc.queryForObject("select 40", Integer.class),
                        Thread.currentThread().getName()));
    }
}
