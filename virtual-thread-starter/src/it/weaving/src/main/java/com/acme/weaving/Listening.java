package com.acme.weaving;

import io.github.virtualthread.VirtualThread;
import jakarta.annotation.PostConstruct;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;

/** Annotated as a whole, and called by Spring. */
@VirtualThread
public class Listening implements ApplicationListener<ContextRefreshedEvent>, InitializingBean {

    public final BlockingQueue<Thread> begun = new LinkedBlockingQueue<>();
    public final BlockingQueue<Thread> heard = new LinkedBlockingQueue<>();

    @PostConstruct
    public void begin() {
        begun.add(Thread.currentThread());
    }

    @Override
    public void afterPropertiesSet() {
        begun.add(Thread.currentThread());
    }

    @Override
    public void onApplicationEvent(ContextRefreshedEvent event) {
        heard.add(Thread.currentThread());
    }
}
