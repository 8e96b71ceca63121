package com.acme.shop.boot3;

import com.acme.shop.JpaSlice;
import org.springframework.boot.test.autoconfigure.orm.jpa.DataJpaTest;

@DataJpaTest
class DataJpaTests extends JpaSlice {}
