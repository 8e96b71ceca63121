package com.acme.shop;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.util.function.SingletonSupplier;

/** A server, started when it is first needed, which ends with the JVM. */
public final class Postgres {

    private static final Supplier<EmbeddedPostgres> SERVER = SingletonSupplier.of(Postgres::start);

    private final String url;
    private final JdbcTemplate jdbc;

    private Postgres(String url) {
        this.url = url;
        this.jdbc = new JdbcTemplate(new DriverManagerDataSource(url, "postgres", ""));
    }

    /** An empty database of this name with all tables, before any replica starts: two of them cannot create a table at once. */
    public static Postgres database(String name, String... scripts) {
        EmbeddedPostgres server = SERVER.get();
        JdbcTemplate administrator = new JdbcTemplate(server.getPostgresDatabase());
        administrator.execute("drop database if exists " + name);
        administrator.execute("create database " + name);
        Postgres database = new Postgres(server.getJdbcUrl("postgres", name));
        database.run("schema.sql");
        database.run("mails.sql");
        database.run("org/springframework/modulith/events/jdbc/schemas/v2/schema-postgresql.sql");
        for (String script : scripts) {
            database.run(script);
        }
        return database;
    }

    private static EmbeddedPostgres start() {
        try {
            return EmbeddedPostgres.builder()
                    .setPGStartupWait(Duration.ofMinutes(5))
                    .start();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private void run(String script) {
        new ResourceDatabasePopulator(new ClassPathResource(script)).execute(jdbc.getDataSource());
    }

    public String url() {
        return url;
    }

    public JdbcTemplate jdbc() {
        return jdbc;
    }

    /** Of each replica that has sent mail, how many mails it has sent at once. */
    public List<Integer> mostAtOnce() {
        return jdbc.queryForList("select max(at_once) from mails group by replica order by replica", Integer.class);
    }

    public int count(String from) {
        return jdbc.queryForObject("select count(*) from " + from, Integer.class);
    }
}
