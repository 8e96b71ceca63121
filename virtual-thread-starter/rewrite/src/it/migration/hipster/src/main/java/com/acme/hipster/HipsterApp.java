package com.acme.hipster;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

@SpringBootApplication
public class HipsterApp {

    public static void main(String[] args) {
        SpringApplication.run(HipsterApp.class, args);
    }
}
