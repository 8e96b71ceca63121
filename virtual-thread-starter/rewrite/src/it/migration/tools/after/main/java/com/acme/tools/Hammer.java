package com.acme.tools;

import org.springframework.scheduling.annotation.Async;

public class Hammer {

    // Stays @Async: the applications that may use it have different executors. Set a limit, and name it in @VirtualThread.
    @Async
    public void strike() {}
}
