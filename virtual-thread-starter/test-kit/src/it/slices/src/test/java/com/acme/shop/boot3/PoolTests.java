package com.acme.shop.boot3;

import com.acme.shop.PoolSlice;
import org.springframework.boot.test.autoconfigure.jdbc.JdbcTest;

@JdbcTest
class PoolTests extends PoolSlice {}
