package io.github.virtualthread.sample.catalog;

import io.github.virtualthread.Limited;
import java.math.BigDecimal;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.GeneratedKeyHolder;
import org.springframework.stereotype.Repository;

/** Products in the database. Both queries are slow on purpose: {@code sleep} is a function in schema.sql. */
@Repository
public class ProductRepository {

    private final JdbcClient jdbc;

    ProductRepository(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    public BigDecimal price(long id) {
        return find("select price from product where id = :id and sleep(120) is null", id, BigDecimal.class);
    }

    public int stock(long id) {
        return find("select stock from product where id = :id and sleep(150) is null", id, Integer.class);
    }

    /** On the thread of the request, which waits there for a permit. */
    @Limited("db")
    long add(NewProduct product) {
        var key = new GeneratedKeyHolder();
        jdbc.sql("insert into product (name, price, stock) values (:name, :price, :stock)")
                .paramSource(product)
                .update(key, "id");
        return key.getKeyAs(Long.class);
    }

    private <T> T find(String sql, long id, Class<T> type) {
        return jdbc.sql(sql).param("id", id).query(type).optional().orElseThrow(() -> new UnknownProductException(id));
    }
}
