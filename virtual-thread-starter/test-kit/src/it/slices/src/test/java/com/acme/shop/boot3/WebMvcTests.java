package com.acme.shop.boot3;

import com.acme.shop.WebSlice;
import org.springframework.boot.test.autoconfigure.web.servlet.WebMvcTest;

@WebMvcTest
class WebMvcTests extends WebSlice {}
