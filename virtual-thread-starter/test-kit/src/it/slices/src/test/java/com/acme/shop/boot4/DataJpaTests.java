package com.acme.shop.boot4;

import com.acme.shop.JpaSlice;
import org.springframework.boot.data.jpa.test.autoconfigure.DataJpaTest;

@DataJpaTest
class DataJpaTests extends JpaSlice {}
