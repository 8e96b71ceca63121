package com.acme.shop;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;

/** Nothing but what Spring Boot brings; each test adds the beans it is about. */
@SpringBootConfiguration
@EnableAutoConfiguration
public class ShopApplication {}
