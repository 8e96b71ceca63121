package com.acme.shop.boot4;

import com.acme.shop.JdbcSlice;
import org.springframework.boot.jdbc.test.autoconfigure.JdbcTest;

@JdbcTest
class JdbcTests extends JdbcSlice {}
