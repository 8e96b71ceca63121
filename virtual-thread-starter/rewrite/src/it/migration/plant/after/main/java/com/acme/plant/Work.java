package com.acme.plant;

import io.github.virtualthread.VirtualThread;
import org.springframework.scheduling.annotation.Async;
import org.springframework.stereotype.Service;

@Service
class Work {

    @VirtualThread
    public void onSpringBoots() {}

    @VirtualThread("none")
    public void onThreadPerTask() {}

    @VirtualThread("none")
    public void onCached() {}

    @VirtualThread("none")
    public void onSimple() {}

    @VirtualThread("throttled")
    public void onThrottled() {}

    @VirtualThread("configured")
    public void onConfigured() {}

    @VirtualThread("single")
    public void onSingle() {}

    @VirtualThread("fixed")
    public void onFixed() {}

    @VirtualThread("fixed")
    public void onSteady() {}

    @VirtualThread("literal")
    public void onLiteral() {}

    @VirtualThread("handedOver")
    public void onHandedOver() {}

    @VirtualThread("one")
    public void onOne() {}

    @VirtualThread("bounded")
    public void onBounded() {}

    // Stays @Async: onTheCaller handles rejected calls itself. Set virtual-thread.limits.onTheCaller.permits.
    @Async("onTheCaller")
    public void onOnTheCaller() {}

    // Stays @Async: decorated has a TaskDecorator that may not be a bean. Inject it as a parameter.
    @Async("decorated")
    public void onDecorated() {}

    // Stays @Async: decoratedAndConfigured has a TaskDecorator that may not be a bean. Inject it as a parameter.
    @Async("decoratedAndConfigured")
    public void onDecoratedAndConfigured() {}

    @VirtualThread("decoratedByABean")
    public void onDecoratedByABean() {}

    @VirtualThread("decoratedByAMethod")
    public void onDecoratedByAMethod() {}

    @VirtualThread("propagating")
    public void onPropagating() {}

    // Stays @Async: the size of dependsOnTheMachine is unknown. Set virtual-thread.limits.dependsOnTheMachine.permits.
    @Async("dependsOnTheMachine")
    public void onDependsOnTheMachine() {}

    // Stays @Async: the size of handedOn is unknown. Set virtual-thread.limits.handedOn.permits.
    @Async("handedOn")
    public void onHandedOn() {}

    // Stays @Async: the size of onTheSpot is unknown. Set virtual-thread.limits.onTheSpot.permits.
    @Async("onTheSpot")
    public void onOnTheSpot() {}

    // Stays @Async: the size of elsewhere is unknown. Set virtual-thread.limits.elsewhere.permits.
    @Async("elsewhere")
    public void onElsewhere() {}
}
