package com.acme.plant;

import org.springframework.scheduling.annotation.Async;
import org.springframework.stereotype.Service;

@Service
class Work {

    @Async
    public void onSpringBoots() {}

    @Async("threadPerTask")
    public void onThreadPerTask() {}

    @Async("cached")
    public void onCached() {}

    @Async("simple")
    public void onSimple() {}

    @Async("throttled")
    public void onThrottled() {}

    @Async("configured")
    public void onConfigured() {}

    @Async("single")
    public void onSingle() {}

    @Async("fixed")
    public void onFixed() {}

    @Async("steady")
    public void onSteady() {}

    @Async("literal")
    public void onLiteral() {}

    @Async("handedOver")
    public void onHandedOver() {}

    @Async("one")
    public void onOne() {}

    @Async("bounded")
    public void onBounded() {}

    @Async("onTheCaller")
    public void onOnTheCaller() {}

    @Async("decorated")
    public void onDecorated() {}

    @Async("decoratedAndConfigured")
    public void onDecoratedAndConfigured() {}

    @Async("decoratedByABean")
    public void onDecoratedByABean() {}

    @Async("decoratedByAMethod")
    public void onDecoratedByAMethod() {}

    @Async("propagating")
    public void onPropagating() {}

    @Async("dependsOnTheMachine")
    public void onDependsOnTheMachine() {}

    @Async("handedOn")
    public void onHandedOn() {}

    @Async("onTheSpot")
    public void onOnTheSpot() {}

    @Async("elsewhere")
    public void onElsewhere() {}
}
