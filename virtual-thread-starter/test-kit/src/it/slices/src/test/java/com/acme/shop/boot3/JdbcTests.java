package com.acme.shop.boot3;

import com.acme.shop.JdbcSlice;
import org.springframework.boot.test.autoconfigure.jdbc.JdbcTest;

@JdbcTest
class JdbcTests extends JdbcSlice {}
