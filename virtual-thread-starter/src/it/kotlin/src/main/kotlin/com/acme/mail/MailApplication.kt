package com.acme.mail

import org.springframework.boot.autoconfigure.SpringBootApplication
import org.springframework.boot.runApplication
import org.springframework.context.annotation.Bean

@SpringBootApplication
class MailApplication {

    @Bean
    fun archive() = Archive()
}

fun main(args: Array<String>) {
    runApplication<MailApplication>(*args)
}
