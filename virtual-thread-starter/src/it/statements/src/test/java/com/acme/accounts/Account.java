package com.acme.accounts;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;

/** Not beside the application, which would make a table of it. */
@Entity
@Table(name = "accounts")
public class Account {

    @Id
    private int id;

    private long balance;

    public void add(long amount) {
        balance += amount;
    }
}
