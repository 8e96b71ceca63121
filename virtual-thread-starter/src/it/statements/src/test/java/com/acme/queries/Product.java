package com.acme.queries;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;

@Entity
class Product {

    @Id
    private long id;

    private String name;

    protected Product() {}

    Product(long id) {
        this.id = id;
        this.name = "Tea cup " + id;
    }

    String name() {
        return name;
    }
}
