package org.springframework.web.socket.config.annotation;

import java.lang.annotation.ElementType;
import java.lang.annotation.Target;

/** In place of Spring's, whose executors make Spring Boot add none. */
@Target(ElementType.TYPE)
public @interface EnableWebSocketMessageBroker {}
