package com.acme.shop;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Import;

@SpringBootConfiguration
@EnableAutoConfiguration
@Import({Prices.class, Report.class})
public class ShopApplication {

    public static void main(String[] arguments) {
        SpringApplication.run(ShopApplication.class, arguments);
    }
}
