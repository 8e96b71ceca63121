package io.github.virtualthread.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.mistake.Mistake;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.aop.support.DefaultIntroductionAdvisor;
import org.springframework.aop.support.DelegatingIntroductionInterceptor;
import org.springframework.aop.support.NameMatchMethodPointcutAdvisor;

/** Whether a proxy puts advice around a woven method. That methods are woven is not looked at here. */
@Timeout(300)
class DoubleAdviceCheckTests {

    private final ContextWeaving advice = new ContextWeaving(
            new AnnotatedMethods(VirtualThread.class),
            resolution -> new VirtualThreadInterceptor(resolution, text -> text, () -> fail("there are no calls")));

    @Test
    void adviceOfAnAnnotatedMethodIsAMistakeThatNamesBoth() {
        assertThat(advice.check(proxy(new Mailer(), advising("send")), Mailer.class))
                .extracting(Mistake::description)
                .asString()
                .contains("Mailer.send with @VirtualThread is woven", "(Timing)");
    }

    @Test
    void adviceOfOtherMethodsIsNone() {
        assertThat(advice.check(proxy(new Mailer(), advising("other")), Mailer.class))
                .isNull();
    }

    @Test
    void theProxyWithinAProxyIsLookedAtToo() {
        Object inner = proxy(new Mailer(), advising("send"));

        assertThat(advice.check(proxy(inner, advising("other")), Mailer.class)).isNotNull();
    }

    @Test
    void aProxyThatSeesNoCallsOfTheMethodDoesNotMatter() {
        assertThat(advice.check(proxy(new Unseen(), advising("*")), Unseen.class))
                .isNull();
    }

    @Test
    void whatChangesNoCallDoesNotMatter() {
        Advisor introduction = new DefaultIntroductionAdvisor(new Lockable(), Locked.class);

        assertThat(advice.check(proxy(new Mailer(), ExposeInvocationInterceptor.ADVISOR, introduction), Mailer.class))
                .isNull();
    }

    @Test
    void aBeanWithoutAProxyHasNone() {
        assertThat(advice.check(new Mailer(), Mailer.class)).isNull();
        assertThat(advice.check(null, Mailer.class)).isNull();
    }

    private static Object proxy(Object target, Advisor... advisors) {
        ProxyFactory factory = new ProxyFactory(target);
        factory.setProxyTargetClass(true);
        factory.addAdvisors(advisors);
        return factory.getProxy();
    }

    private static Advisor advising(String method) {
        NameMatchMethodPointcutAdvisor advisor = new NameMatchMethodPointcutAdvisor(new Timing());
        advisor.setMappedName(method);
        return advisor;
    }

    private static final class Timing implements MethodInterceptor {

        @Override
        public Object invoke(MethodInvocation invocation) throws Throwable {
            return invocation.proceed();
        }
    }

    interface Locked {}

    @SuppressWarnings("serial")
    private static final class Lockable extends DelegatingIntroductionInterceptor implements Locked {}

    static class Mailer {

        @VirtualThread
        void send() {}

        void other() {}
    }

    static class Unseen {

        @VirtualThread
        private void secretly() {}

        @VirtualThread
        static void statically() {}

        @VirtualThread
        final void unchangeably() {}

        void other() {}
    }
}
