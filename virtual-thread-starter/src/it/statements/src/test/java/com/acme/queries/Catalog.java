package com.acme.queries;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.VirtualThread;
import jakarta.persistence.EntityManager;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import org.springframework.transaction.annotation.Transactional;

/** Reads and writes with JPA only. */
@Transactional
class Catalog {

    private static final int MANY = 2000;

    private final EntityManager entities;

    Catalog(EntityManager entities) {
        this.entities = entities;
    }

    @VirtualThread("db")
    public CompletableFuture<Void> fill() {
        LongStream.range(0, MANY).mapToObj(Product::new).forEach(entities::persist);
        return completedFuture(null);
    }

    @VirtualThread("db")
    public CompletableFuture<Long> size() {
        return completedFuture(
                entities.createQuery("select count(*) from Product", Long.class).getSingleResult());
    }

    @VirtualThread("db")
    public CompletableFuture<Product> find(long id) {
        return completedFuture(entities.find(Product.class, id));
    }

    /** A product of which nothing has been read. */
    @VirtualThread("db")
    public CompletableFuture<Product> refer(long id) {
        return completedFuture(entities.getReference(Product.class, id));
    }

    /** Adds a product first; the query would take minutes. */
    @VirtualThread("db")
    public CompletableFuture<Long> addAndMultiply() {
        return multiply(MANY);
    }

    /** The same on an empty table: it ends at once. */
    @VirtualThread("db")
    public CompletableFuture<Long> tryMultiply() {
        CompletableFuture<Long> result = multiply(-1);
        entities.createQuery("delete from Product").executeUpdate();
        return result;
    }

    private CompletableFuture<Long> multiply(long added) {
        entities.persist(new Product(added));
        entities.flush();
        return completedFuture(entities.createQuery(
                        "select count(*) from Product a, Product b, Product c where a.id * b.id * c.id < -1",
                        Long.class)
                .getSingleResult());
    }
}
