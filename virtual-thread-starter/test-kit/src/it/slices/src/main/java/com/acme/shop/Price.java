package com.acme.shop;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;

@Entity
class Price {

    @Id
    long id;
}
