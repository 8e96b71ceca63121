package com.acme.weaving;

import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;

@Aspect
public class FirstAspect {

    @Around("execution(@com.acme.weaving.Traced * *(..))")
    public Object trace(ProceedingJoinPoint joinPoint) throws Throwable {
        Trace.add("first");
        Object result = joinPoint.proceed();
        Trace.add("first again");
        return result;
    }
}
