package org.springframework.cloud.context.environment;

import org.springframework.context.ApplicationEvent;

/** Stands for the event of Spring Cloud, which is known by this name. */
@SuppressWarnings("serial")
public class EnvironmentChangeEvent extends ApplicationEvent {

    public EnvironmentChangeEvent(Object source) {
        super(source);
    }
}
