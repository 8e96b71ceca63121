package com.acme.shop.boot4;

import com.acme.shop.PoolSlice;
import org.springframework.boot.jdbc.test.autoconfigure.JdbcTest;

@JdbcTest
class PoolTests extends PoolSlice {}
