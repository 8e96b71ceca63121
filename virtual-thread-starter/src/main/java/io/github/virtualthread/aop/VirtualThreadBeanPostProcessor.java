package io.github.virtualthread.aop;

import io.github.virtualthread.Internal;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.aop.CreatedBeans.Created;
import io.github.virtualthread.aop.VirtualThreadInterceptor.Resolution;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.Mistake;
import java.lang.annotation.Annotation;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.SpringProxy;
import org.springframework.aop.TargetClassAware;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.SmartInstantiationAwareBeanPostProcessor;
import org.springframework.beans.factory.support.AbstractBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.context.EnvironmentAware;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.convert.ConversionException;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * Advises beans whose methods have {@link VirtualThread}, or the annotation chosen in its place, or
 * {@link io.github.virtualthread.Limited}.
 *
 * <p>Its advice comes before all other advice, which therefore runs on the virtual thread, or under the permit. It never
 * throws before {@link #check}: a bean that cannot be advised stays as it is, and the check reports why. A bean that is
 * created later, with mistakes that the check could not see, fails its own creation.
 *
 * <p>It needs the bean factory and the environment only. The {@link CallEnvironment} bean is looked up at the first call.
 * The properties {@code virtual-thread.enabled} (default {@code true}) and {@code virtual-thread.mode} are read before the
 * first bean is created. If the former is {@code false}, or the mode is ASPECTJ, no bean is advised, but the checks still
 * run; in mode ASPECTJ woven code gets to know the beans.
 */
@Internal
public final class VirtualThreadBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor
        implements SmartInstantiationAwareBeanPostProcessor,
                BeanDefinitionRegistryPostProcessor,
                EnvironmentAware,
                DisposableBean {

    /** Set by Spring 7 for beans that ask for interface proxies. */
    private static final String EXPOSED_INTERFACES = AutoProxyUtils.class.getName() + ".exposedInterfaces";

    private @Nullable ConfigurableListableBeanFactory factory;
    private boolean enabled = true;
    private AdviceMode mode = AdviceMode.PROXY;
    private AnnotatedMethods methods = new AnnotatedMethods(VirtualThread.class);
    private CreatedBeans beans = new CreatedBeans(methods);
    private @Nullable ContextWeaving weaving; // null if nothing can be woven
    private final AtomicBoolean listenersMoved = new AtomicBoolean();
    private final Map<String, Object> earlyReferences = new ConcurrentHashMap<>();

    /** Creates a post-processor for {@link VirtualThread}, of lowest precedence. */
    public VirtualThreadBeanPostProcessor() {
        this(false);
    }

    /**
     * Creates a post-processor for {@link VirtualThread}, of lowest precedence.
     *
     * @param proxyTargetClass whether proxies are subclasses even if the bean has interfaces
     */
    public VirtualThreadBeanPostProcessor(boolean proxyTargetClass) {
        setBeforeExistingAdvisors(true);
        setProxyTargetClass(proxyTargetClass);
    }

    /**
     * Sets the annotation that marks methods and types; by default {@link VirtualThread}, which another annotation replaces.
     *
     * @param annotationType annotation with runtime retention; its attributes {@code limit} or {@code value}, {@code name},
     *     {@code timeout}, {@code deadline} and {@code key} are used if they are strings
     */
    public void setAnnotationType(Class<? extends Annotation> annotationType) {
        methods = new AnnotatedMethods(annotationType);
        beans = new CreatedBeans(methods);
    }

    /**
     * Sets how annotated methods are intercepted; by default by proxies. With {@code virtual-thread.mode: aspectj} it is
     * woven code, whatever is set here.
     *
     * @param mode {@link AdviceMode#ASPECTJ} for woven code
     */
    public void setMode(AdviceMode mode) {
        this.mode = mode;
    }

    /** Reads two properties. Invalid values are reported where the properties are bound; nothing may be thrown here. */
    @Override
    public void setEnvironment(Environment environment) {
        enabled = isEnabled(environment);
        // as lenient as the binding of the properties
        String written =
                read(environment, "virtual-thread.mode", String.class, "").replaceAll("[^A-Za-z]", "");
        if (written.equalsIgnoreCase(AdviceMode.ASPECTJ.name())) {
            mode = AdviceMode.ASPECTJ;
        }
    }

    /**
     * Whether annotated methods are to be advised.
     *
     * @param environment has the property
     * @return what {@code virtual-thread.enabled} says, true if it is not set, or invalid
     */
    public static boolean isEnabled(Environment environment) {
        return read(environment, "virtual-thread.enabled", Boolean.class, true);
    }

    /**
     * Reads a property before the properties are bound, where an invalid value is reported.
     *
     * @param <T> type of its value
     * @param environment has the property
     * @param key its key
     * @param type type of its value
     * @param byDefault value if it is not set, or invalid
     * @return its value
     */
    public static <T> T read(Environment environment, String key, Class<T> type, T byDefault) {
        try {
            return environment.getProperty(key, type, byDefault);
        } catch (ConversionException | IllegalArgumentException unreadable) {
            return byDefault;
        }
    }

    /**
     * Sets the factory whose beans are advised.
     *
     * @param beanFactory a listable factory
     * @throws IllegalArgumentException if the factory cannot list its beans
     */
    @Override
    public void setBeanFactory(BeanFactory beanFactory) {
        super.setBeanFactory(beanFactory);
        if (!(beanFactory instanceof ConfigurableListableBeanFactory listable)) {
            throw new IllegalArgumentException("A ConfigurableListableBeanFactory is needed, was " + beanFactory);
        }
        factory = listable;
        advisor = new VirtualThreadAdvisor(
                methods, interceptor((method, type) -> VirtualThreadAdvisor.resolve(methods, method, type)));
    }

    private VirtualThreadInterceptor interceptor(Resolution resolution) {
        ConfigurableListableBeanFactory beanFactory = factory();
        return new VirtualThreadInterceptor(
                resolution, beanFactory::resolveEmbeddedValue, () -> beanFactory.getBean(CallEnvironment.class));
    }

    /** Starts to watch the creation of beans, before the other post-processors and the beans that they need are created. */
    @Override
    public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
        factory().addBeanPostProcessor(beans);
        if (AspectJRuntime.isOnClassPath(factory().getBeanClassLoader())) {
            ContextWeaving made = new ContextWeaving(methods, enabled && isWeaving() ? this::interceptor : null);
            made.join(factory());
            weaving = made;
        }
    }

    /**
     * Checks every annotated method of every bean, including beans that do not exist yet, without creating any. To be called
     * once, when the singletons are ready.
     *
     * @param limits looks up the limits of the application if there is an annotated method, also in beans that are created later
     * @param settings defaults and overrides of annotations
     * @return all mistakes, and all advised methods
     */
    public Findings check(Supplier<TaskLimits> limits, MethodSettings settings) {
        MethodChecks.Reach reach = reach();
        CallSettings calls = new CallSettings(factory()::resolveEmbeddedValue, settings);
        MethodChecks checks = new MethodChecks(methods, new SettingsChecks(calls, limits), reach);
        beans.checkNow(checks);
        Findings findings = new BeanChecks(factory(), methods, checks, this::predictsClassProxy)
                .check(beans, settings.overrides(), isAdvising());
        Set<Mistake> mistakes = new LinkedHashSet<>(reach.summarize(findings.mistakes()));
        if (weaving != null) {
            mistakes.addAll(weaving.check(factory(), beans.created(), checks));
        }
        return new Findings(List.copyOf(mistakes), findings.methods(), findings.selfInvocations());
    }

    private MethodChecks.Reach reach() {
        if (isWeaving()) {
            return new WeavingChecks(methods, isEnabled(), factory().getBeanClassLoader());
        }
        return new ProxyChecks(methods);
    }

    /**
     * Lets woven code use the engine, also on objects that are not beans. To be called when the checks have found no
     * mistake. Also looks up the engine, so that a first call after the context was closed finds the closed one.
     */
    public void start() {
        if (isAdvising() && advisor != null && advisor.getAdvice() instanceof VirtualThreadInterceptor ours) {
            ours.environment();
        }
        if (weaving != null) {
            weaving.start(factory());
        }
    }

    /** Stops woven code from using the engine. */
    @Override
    public void destroy() {
        if (weaving != null) {
            weaving.close();
        }
    }

    /** Used ahead of time only: whether methods are advised is known at run time and does not matter here. */
    @Override
    public Class<?> determineBeanType(Class<?> beanClass, String beanName) {
        try {
            return super.determineBeanType(beanClass, beanName);
        } catch (RuntimeException | LinkageError failure) {
            return beanClass;
        }
    }

    /** If a circular reference needs the bean before it is ready, the proxy is made here, and not again afterwards. */
    @Override
    public Object getEarlyBeanReference(Object bean, String beanName) {
        beans.seen(bean, beanName);
        earlyReferences.put(beanName, rawTarget(bean));
        return advise(bean, beanName);
    }

    @Override
    public Object postProcessBeforeInitialization(Object bean, String beanName) {
        if (!listenersMoved.get() && isAdvising() && listenersMoved.compareAndSet(false, true)) {
            moveListeners();
        }
        return bean;
    }

    /**
     * Moves the post-processors of message listeners, such as those of Kafka and Rabbit, behind all others. They have the same order
     * as ours, and call the very object that they are given. If one of them comes first, as with {@code @EnableKafka} in an
     * application's own class, that object would be the bean without our proxy. When the first bean is created, all post-processors
     * of this order have joined the factory.
     */
    private void moveListeners() {
        if (factory() instanceof AbstractBeanFactory known) {
            for (BeanPostProcessor each : List.copyOf(known.getBeanPostProcessors())) {
                if (each.getClass().getName().endsWith("ListenerAnnotationBeanPostProcessor")) {
                    known.addBeanPostProcessor(each); // which moves it to the end
                }
            }
        }
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // the very object, because beans may be equal
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        beans.seen(bean, beanName);
        return earlyReferences.remove(beanName) == bean ? bean : advise(bean, beanName);
    }

    private Object advise(Object bean, String beanName) {
        Class<?> type = annotatedType(bean);
        if (type == null || bean instanceof AopInfrastructureBean) {
            return bean;
        }
        Object result = bean;
        Mistake failure = weaving == null ? null : weaving.check(bean, type);
        try {
            if (isAdvising() && !isAdvised(bean)) {
                result = super.postProcessAfterInitialization(bean, beanName);
            }
        } catch (RuntimeException | LinkageError thrown) {
            failure = cannotBeProxied(type, thrown);
        }
        beans.add(bean, beanName, new Created(type, isClassProxy(result, beanName, type)), failure);
        return result;
    }

    /** Whether the bean, as it goes to the application, is a subclass, or would be one if it had a proxy. */
    private boolean isClassProxy(Object result, String beanName, Class<?> type) {
        if (result instanceof SpringProxy) {
            return !Proxy.isProxyClass(result.getClass());
        }
        return predictsClassProxy(beanName, type);
    }

    /** The class of the bean that has annotated methods: that of the target, otherwise that of the proxy, otherwise null. */
    private @Nullable Class<?> annotatedType(Object bean) {
        if (bean instanceof TargetClassAware) {
            Class<?> target = AopProxyUtils.ultimateTargetClass(bean);
            if (methods.areIn(target)) {
                return TypeHierarchy.userClass(target);
            }
        }
        return methods.areIn(bean.getClass()) ? TypeHierarchy.userClass(bean.getClass()) : null;
    }

    /** The object behind all proxies that have a fixed target. */
    static Object rawTarget(Object bean) {
        Object target = AopProxyUtils.getSingletonTarget(bean);
        return target == null ? bean : rawTarget(target);
    }

    /** Whether the bean has our advice already: it may have two names, or be returned by a factory again. */
    static boolean isAdvised(Object bean) {
        if (bean instanceof Advised advised
                && Arrays.stream(advised.getAdvisors()).anyMatch(VirtualThreadAdvisor.class::isInstance)) {
            return true;
        }
        Object target = AopProxyUtils.getSingletonTarget(bean);
        return target != null && isAdvised(target);
    }

    private Mistake cannotBeProxied(Class<?> type, Throwable failure) {
        return new Mistake(
                "%s has methods with %s, but cannot be proxied: %s"
                        .formatted(
                                type.getName(),
                                methods.annotations(type),
                                NestedExceptionUtils.getMostSpecificCause(failure)),
                "Make it a class that can be subclassed, or %s.".formatted(ProxyChecks.useInterface(type)));
    }

    /** Whether the proxy of a bean will be a subclass, by the rules of Spring's post-processors. */
    private boolean predictsClassProxy(String beanName, Class<?> type) {
        if (type.isInterface() || Proxy.isProxyClass(type) || ClassUtils.isLambdaClass(type)) {
            return false;
        }
        boolean isAskedForInterfaces = factory().containsBeanDefinition(beanName)
                && factory().getBeanDefinition(beanName).hasAttribute(EXPOSED_INTERFACES);
        if (AutoProxyUtils.shouldProxyTargetClass(factory(), beanName)
                || (isProxyTargetClass() && !isAskedForInterfaces)) {
            return true;
        }
        ProxyFactory probe = new ProxyFactory();
        evaluateProxyInterfaces(type, probe);
        return probe.isProxyTargetClass();
    }

    /**
     * Whether annotated methods are advised.
     *
     * @return what {@code virtual-thread.enabled} said before the first bean was created
     */
    public boolean isEnabled() {
        return enabled;
    }

    /**
     * Whether woven code runs annotated methods, also those of objects that are not beans.
     *
     * @return whether the mode is ASPECTJ
     */
    public boolean isWeaving() {
        return mode == AdviceMode.ASPECTJ;
    }

    /** Whether proxies intercept annotated methods, so that this object has to see every bean. */
    private boolean isAdvising() {
        return enabled && !isWeaving();
    }

    AnnotatedMethods methods() {
        return methods;
    }

    private ConfigurableListableBeanFactory factory() {
        return Objects.requireNonNull(factory, "setBeanFactory has not been called");
    }
}
