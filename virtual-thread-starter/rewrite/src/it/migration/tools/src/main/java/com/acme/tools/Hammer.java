package com.acme.tools;

import org.springframework.scheduling.annotation.Async;

public class Hammer {

    @Async
    public void strike() {}
}
