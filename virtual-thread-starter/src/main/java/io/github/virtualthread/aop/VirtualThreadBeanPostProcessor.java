package io.github.virtualthread.aop;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.aop.CreatedBeans.Created;
import io.github.virtualthread.aop.VirtualThreadInterceptor.Resolution;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.lang.annotation.Annotation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
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
import org.springframework.core.convert.ConversionException;
import org.springframework.core.env.Environment;
import org.springframework.util.StringValueResolver;

/**
 * Advises beans whose methods have {@link VirtualThread}, or another annotation that was chosen in its place, or
 * {@link io.github.virtualthread.Limited}.
 *
 * <p>Its advice goes before all other advice, which therefore runs on the virtual thread, or under the permit. Until {@link #check} it never
 * throws: what cannot be advised stays as it is and is among the mistakes that the check finds. Afterwards a bean with
 * mistakes that the check could not see fails its own creation.
 *
 * <p>Needs nothing but the bean factory and the environment. The {@link CallEnvironment} bean is looked up at the first
 * call. The properties {@code virtual-thread.enabled} (default {@code true}) and {@code virtual-thread.mode} are read when the
 * first bean arrives. Where the former is {@code false}, or the mode is ASPECTJ, nothing is advised, and the checks run all the
 * same; in mode ASPECTJ the beans are made known to woven code.
 */
@SuppressWarnings("serial")
public final class VirtualThreadBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor
        implements SmartInstantiationAwareBeanPostProcessor,
                BeanDefinitionRegistryPostProcessor,
                EnvironmentAware,
                DisposableBean {

    private static final String ENABLED = "virtual-thread.enabled";
    private static final String MODE = "virtual-thread.mode";
    private static final String OF_LISTENERS = "ListenerAnnotationBeanPostProcessor";

    private Class<? extends Annotation> annotationType = VirtualThread.class;
    private @Nullable ConfigurableListableBeanFactory factory;
    private @Nullable Environment environment;
    private AdviceMode mode = AdviceMode.PROXY;
    private volatile @Nullable Boolean enabled;
    private volatile @Nullable AdviceMode effectiveMode;
    private AnnotatedMethods methods = new AnnotatedMethods(annotationType);
    private Weaving weaving = weaving();
    private CreatedBeans beans = new CreatedBeans(methods, weaving::made);
    private final Map<String, Object> earlyReferences = new ConcurrentHashMap<>();
    private volatile @Nullable MethodChecks lateChecks;
    private volatile boolean listenersFollow;

    /** A post-processor for {@link VirtualThread}, of lowest precedence. */
    public VirtualThreadBeanPostProcessor() {
        setBeforeExistingAdvisors(true);
    }

    /**
     * Sets the annotation that marks methods and types; by default {@link VirtualThread}, which then means nothing.
     *
     * @param annotationType annotation with runtime retention; its attributes {@code limit} or {@code value},
     *     {@code name} and {@code timeout} are used if they are strings
     */
    public void setAnnotationType(Class<? extends Annotation> annotationType) {
        this.annotationType = annotationType;
    }

    /**
     * Sets how annotated methods are intercepted; by proxies, by default. With {@code virtual-thread.mode: aspectj} that is by
     * woven code, whatever is set here.
     *
     * @param mode {@link AdviceMode#ASPECTJ} for woven code
     */
    public void setMode(AdviceMode mode) {
        this.mode = mode;
    }

    @Override
    public void setEnvironment(Environment environment) {
        this.environment = environment;
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
            throw new IllegalArgumentException("A listable bean factory is needed, was " + beanFactory);
        }
        factory = listable;
        methods = new AnnotatedMethods(annotationType);
        weaving = weaving();
        beans = new CreatedBeans(methods, weaving::made);
        advisor = new VirtualThreadAdvisor(
                methods, interceptor((method, type) -> VirtualThreadAdvisor.resolve(methods, method, type)));
    }

    private Weaving weaving() {
        return new Weaving(methods, () -> isEnabled() && mode() == AdviceMode.ASPECTJ, this::interceptor);
    }

    private VirtualThreadInterceptor interceptor(Resolution resolution) {
        ConfigurableListableBeanFactory beanFactory = factory();
        return new VirtualThreadInterceptor(
                resolution, beanFactory::resolveEmbeddedValue, () -> beanFactory.getBean(CallEnvironment.class));
    }

    /** Begins to watch which beans are created, ahead of all post-processors and what they need. */
    @Override
    public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
        factory().addBeanPostProcessor(beans);
    }

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
        weaving.begin();
    }

    /**
     * Checks every annotated method of every bean, including those not created yet; creates none. To be called once,
     * when the singletons are ready.
     *
     * @param limits limits of the application, looked at again for beans that are created later
     * @param settings what applies where an annotation says nothing
     * @return all mistakes, and all advised methods
     */
    public Findings check(TaskLimits limits, MethodSettings settings) {
        StringValueResolver placeholders = factory()::resolveEmbeddedValue;
        MethodChecks.Reach reach = mode() == AdviceMode.ASPECTJ
                ? new WeavingChecks(methods, isEnabled(), factory().getBeanClassLoader())
                : new ProxyChecks(methods);
        MethodChecks checks = new MethodChecks(methods, new SettingsChecks(placeholders, limits, settings), reach);
        lateChecks = checks;
        weaving.checkBy(checks);
        OverrideChecks overrides =
                new OverrideChecks(methods, settings, factory().getBeanClassLoader());
        Findings findings = new BeanChecks(factory(), methods, checks, overrides, this::predictsClassProxy)
                .check(beans, isAdvising());
        List<Mistake> mistakes = new ArrayList<>(reach.summarize(findings.mistakes()));
        mistakes.addAll(weaving.check(factory(), beans.created()));
        return new Findings(mistakes.stream().distinct().toList(), findings.methods(), findings.selfInvocations());
    }

    /**
     * Lets woven code use the engine, also on objects that are no beans. To be called when the checks have found nothing. A
     * first call that comes when the context is closed finds the closed engine.
     */
    public void start() {
        if (isAdvising() && advisor instanceof VirtualThreadAdvisor ours) {
            ours.getAdvice().environment();
        }
        weaving.start(factory());
    }

    /** Woven code no longer uses the engine. */
    @Override
    public void destroy() {
        weaving.close();
    }

    /** Asked ahead of time only, so whether methods are advised, which is known at run time, does not matter. */
    @Override
    public Class<?> determineBeanType(Class<?> beanClass, String beanName) {
        try {
            return super.determineBeanType(beanClass, beanName);
        } catch (RuntimeException | LinkageError failure) {
            return beanClass;
        }
    }

    /**
     * Where a circular reference needs the bean before it is ready, its proxy is made here, and not again afterwards.
     */
    @Override
    public Object getEarlyBeanReference(Object bean, String beanName) {
        beans.seen(bean, beanName);
        earlyReferences.put(beanName, ProxiedBeans.rawTarget(bean));
        return advise(bean, beanName);
    }

    @Override
    public Object postProcessBeforeInitialization(Object bean, String beanName) {
        if (!listenersFollow) {
            listenersFollow = true;
            letListenersFollow();
        }
        return bean;
    }

    /** Those of Kafka and Rabbit have our order and call the bean that they are given: that has to be the proxy. */
    private void letListenersFollow() {
        if (factory() instanceof AbstractBeanFactory beanFactory && isAdvising()) {
            for (BeanPostProcessor each : List.copyOf(beanFactory.getBeanPostProcessors())) {
                if (each.getClass().getName().endsWith(OF_LISTENERS)) {
                    beanFactory.addBeanPostProcessor(each); // which moves it to the end
                }
            }
        }
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // the very object, as beans may be equal
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        beans.seen(bean, beanName);
        return earlyReferences.remove(beanName) == bean ? bean : advise(bean, beanName);
    }

    private Object advise(Object bean, String beanName) {
        Class<?> type = ProxiedBeans.annotatedType(bean, methods);
        if (type == null || bean instanceof AopInfrastructureBean) {
            return bean;
        }
        Object result = bean;
        Mistake failure = null;
        try {
            boolean asItIs = !isAdvising() || ProxiedBeans.isAdvised(bean);
            result = asItIs ? bean : super.postProcessAfterInitialization(bean, beanName);
        } catch (RuntimeException | LinkageError thrown) {
            failure = ProxiedBeans.failure(type, methods.annotations(type), thrown);
        }
        if (failure == null) {
            failure = weaving.check(bean, type);
        }
        Boolean known = ProxiedBeans.isClassProxy(result);
        Created created = new Created(type, known == null ? predictsClassProxy(beanName, type) : known);
        MethodChecks checks = lateChecks;
        if (checks == null) {
            remember(bean, beanName, created, failure);
        } else {
            checkLate(checks, created, failure);
        }
        return result;
    }

    private void remember(Object bean, String beanName, Created created, @Nullable Mistake failure) {
        beans.add(bean, beanName, created);
        if (failure != null) {
            beans.addFailure(created, failure);
        }
    }

    private static void checkLate(MethodChecks checks, Created created, @Nullable Mistake failure) {
        List<Mistake> mistakes =
                checks.check(created.type(), created.classProxy()).mistakes();
        if (!mistakes.isEmpty()) {
            throw new VirtualThreadConfigurationException(mistakes);
        }
        if (failure != null) {
            throw new VirtualThreadConfigurationException(List.of(failure));
        }
    }

    /** Whether proxies run annotated methods, so that they have to see every bean. */
    private boolean isAdvising() {
        return isEnabled() && mode() == AdviceMode.PROXY;
    }

    private AdviceMode mode() {
        AdviceMode known = effectiveMode;
        if (known == null) {
            known = mode == AdviceMode.PROXY ? modeOfProperty() : mode;
            effectiveMode = known;
        }
        return known;
    }

    private AdviceMode modeOfProperty() {
        try {
            String text = environment == null ? null : environment.getProperty(MODE);
            // as lenient as whoever binds the properties, who also reports what is neither
            return text != null && text.replaceAll("[^A-Za-z]", "").equalsIgnoreCase(AdviceMode.ASPECTJ.name())
                    ? AdviceMode.ASPECTJ
                    : AdviceMode.PROXY;
        } catch (IllegalArgumentException unresolvable) {
            return AdviceMode.PROXY; // reported as well; nothing may be thrown from here
        }
    }

    /**
     * Whether annotated methods are advised.
     *
     * @return what {@code virtual-thread.enabled} said when the first bean arrived
     */
    public boolean isEnabled() {
        Boolean known = enabled;
        if (known == null) {
            known = readEnabled();
            enabled = known;
        }
        return known;
    }

    private boolean readEnabled() {
        try {
            return environment == null || environment.getProperty(ENABLED, Boolean.class, true);
        } catch (ConversionException | IllegalArgumentException failure) {
            // whoever binds the properties reports it; nothing may be thrown from here
            return true;
        }
    }

    AnnotatedMethods methods() {
        return methods;
    }

    private boolean predictsClassProxy(String beanName, Class<?> type) {
        return ProxiedBeans.predictsClassProxy(this, factory(), beanName, type, this::evaluateProxyInterfaces);
    }

    private ConfigurableListableBeanFactory factory() {
        return Objects.requireNonNull(factory, "setBeanFactory has not been called");
    }
}
