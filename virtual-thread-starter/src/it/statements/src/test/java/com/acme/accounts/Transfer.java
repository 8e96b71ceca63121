package com.acme.accounts;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.Table;

@Entity
@Table(name = "transfers")
public class Transfer {

    @Id
    @GeneratedValue(strategy = GenerationType.IDENTITY)
    private Long id;

    @Column(name = "from_id")
    private int from;

    @Column(name = "to_id")
    private int to;

    private long amount;

    protected Transfer() {}

    public Transfer(int from, int to, long amount) {
        this.from = from;
        this.to = to;
        this.amount = amount;
    }
}
