package io.github.virtualthread.database;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.execution.VirtualThreads;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration;
import org.springframework.boot.autoconfigure.jdbc.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.autoconfigure.transaction.TransactionAutoConfiguration;
import org.springframework.boot.autoconfigure.transaction.TransactionManagerCustomizationAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/** A call that needs two connections and has one permit. */
@Timeout(300)
@Tag("slow")
@ExtendWith(OutputCaptureExtension.class)
class SecondConnectionWarningTests {

    private static final String WARNING = "Transaction com.acme.Audit.write begins while its caller is inside another"
            + " transaction, under limit 'db', which has a permit for each connection of 'dataSource'";

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    VirtualThreadAutoConfiguration.class,
                    DataSourceAutoConfiguration.class,
                    DataSourceTransactionManagerAutoConfiguration.class,
                    TransactionManagerCustomizationAutoConfiguration.class,
                    TransactionAutoConfiguration.class))
            .withPropertyValues(
                    "virtual-thread.limits.db.permits-from=dataSource", "virtual-thread.limits.mail.permits=5");

    private static String audit(ApplicationContext context) {
        PlatformTransactionManager transactions = context.getBean(PlatformTransactionManager.class);
        return new TransactionTemplate(transactions).execute(outer -> begin(context));
    }

    private static String begin(ApplicationContext context) {
        PlatformTransactionManager transactions = context.getBean(PlatformTransactionManager.class);
        DefaultTransactionDefinition anew =
                new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        anew.setName("com.acme.Audit.write");
        return new TransactionTemplate(transactions, anew).execute(inner -> "written");
    }

    private static String auditUnder(String limit, ApplicationContext context) throws Exception {
        return context.getBean(VirtualThreads.class).call(limit, () -> audit(context));
    }

    @Test
    void aTransactionInsideOfAnotherIsWarnedOfOnce(CapturedOutput output) {
        runner.run(context -> {
            assertThat(auditUnder("db", context)).isEqualTo("written");
            auditUnder("db", context);
        });

        assertThat(output).containsOnlyOnce(WARNING);
    }

    @Test
    void withHeadroomOrWithoutThePermitItIsNot(CapturedOutput output) {
        runner.run(context -> {
            audit(context);
            auditUnder("mail", context);
        });
        runner.withPropertyValues("virtual-thread.limits.db.headroom=1").run(context -> auditUnder("db", context));

        assertThat(output).doesNotContain("inside another transaction");
    }

    @Test
    void aScopeWithoutTransactionHoldsNoConnection(CapturedOutput output) {
        runner.withUserConfiguration(Scope.class).run(context -> context.getBean(VirtualThreads.class)
                .call("db", () -> context.getBean(Scope.class).supports(() -> begin(context))));

        assertThat(output).doesNotContain("inside another transaction");
    }

    @Test
    void aTransactionInsideOfAnAnnotatedOneIsWarnedOf(CapturedOutput output) {
        runner.withUserConfiguration(Scope.class).run(context -> context.getBean(VirtualThreads.class)
                .call("db", () -> context.getBean(Scope.class).requires(() -> begin(context))));

        assertThat(output).containsOnlyOnce(WARNING);
    }

    @Test
    void aTransactionOfAnotherPoolHoldsNoConnectionOfThisOne(CapturedOutput output) {
        DriverManagerDataSource other = new DriverManagerDataSource("jdbc:h2:mem:other");
        TransactionTemplate ofOther = new TransactionTemplate(new DataSourceTransactionManager(other));
        runner.run(context ->
                context.getBean(VirtualThreads.class).call("db", () -> ofOther.execute(outer -> begin(context))));

        assertThat(output).doesNotContain("inside another transaction");
    }

    static class Scope {

        @Transactional(propagation = Propagation.SUPPORTS)
        public String supports(Supplier<String> body) {
            return body.get();
        }

        @Transactional
        public String requires(Supplier<String> body) {
            return body.get();
        }
    }
}
