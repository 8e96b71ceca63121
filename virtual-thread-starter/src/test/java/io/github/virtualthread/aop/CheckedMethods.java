package io.github.virtualthread.aop;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.aop.CreatedBeans.Created;
import io.github.virtualthread.aop.MethodChecks.Checked;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.timer.TaskTimer;
import java.util.List;
import java.util.Map;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.util.StringValueResolver;

/** The mistakes that are found in the methods of a class. */
abstract class CheckedMethods {

    final String here = getClass().getName() + "$";

    List<String> limits = List.of("mail", "report");
    String defaultLimit;

    interface Sender {
        @VirtualThread
        void send();
    }

    List<Mistake> mistakes(Class<?> type) {
        return check(type, true).mistakes();
    }

    Checked check(Class<?> type, boolean classProxy) {
        return checks(new AnnotatedMethods(VirtualThread.class)).check(new Created(type, classProxy));
    }

    MethodChecks checks(AnnotatedMethods methods) {
        StringValueResolver resolver = new DefaultListableBeanFactory()::resolveEmbeddedValue;
        return new MethodChecks(
                methods,
                new SettingsChecks(
                        new CallSettings(resolver, new MethodSettings(defaultLimit, null, Map.of())), () -> limits()),
                new ProxyChecks(methods));
    }

    TaskLimits limits() {
        return new TaskLimits(
                limits.stream().map(name -> LimitSettings.of(name, 1)).toList(), new TaskTimer("timer"), change -> {});
    }
}
