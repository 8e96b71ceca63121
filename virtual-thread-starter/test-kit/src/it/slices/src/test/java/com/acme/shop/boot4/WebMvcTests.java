package com.acme.shop.boot4;

import com.acme.shop.WebSlice;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;

@WebMvcTest
class WebMvcTests extends WebSlice {}
