package com.acme.mail

import io.github.virtualthread.VirtualThread
import io.github.virtualthread.limit.TaskLimits
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletableFuture.completedFuture
import java.util.concurrent.TimeUnit.SECONDS
import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.assertThatThrownBy
import org.junit.jupiter.api.AfterAll
import org.junit.jupiter.api.BeforeAll
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestInstance
import org.junit.jupiter.api.TestInstance.Lifecycle
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.extension.ExtendWith
import org.springframework.beans.factory.getBean
import org.springframework.beans.factory.support.RootBeanDefinition
import org.springframework.boot.SpringApplication
import org.springframework.boot.SpringBootVersion
import org.springframework.boot.test.system.CapturedOutput
import org.springframework.boot.test.system.OutputCaptureExtension
import org.springframework.context.ApplicationContextInitializer
import org.springframework.context.ConfigurableApplicationContext
import org.springframework.context.support.GenericApplicationContext

/** Kotlin takes the classes of Java from the JVM of Maven, which may be too old for `Thread.isVirtual`. */
private const val VIRTUAL = "VirtualThread["

@Timeout(300)
@TestInstance(Lifecycle.PER_CLASS)
@ExtendWith(OutputCaptureExtension::class)
class MailTests {

    private lateinit var application: ConfigurableApplicationContext
    private lateinit var mailer: Mailer
    private lateinit var startLog: String

    @BeforeAll
    fun start(output: CapturedOutput) {
        application = SpringApplication.run(MailApplication::class.java)
        mailer = application.getBean<Mailer>()
        startLog = output.all
    }

    @AfterAll
    fun stop() {
        application.close()
    }

    @Test
    fun itRunsOnTheVersionsThatWereAskedFor() {
        assertThat(SpringBootVersion.getVersion()).isEqualTo(System.getProperty("expected.spring-boot"))
        assertThat(KotlinVersion.CURRENT).hasToString(System.getProperty("expected.kotlin"))
        val java = System.getProperty("expected.java")
        if (java.isNullOrBlank()) {
            assertThat(Runtime.version().feature()).isGreaterThanOrEqualTo(21)
        } else {
            assertThat(Runtime.version().feature()).hasToString(java)
        }
        assertThat(VirtualThread::class.java.protectionDomain.codeSource.location.path).endsWith(".jar")
    }

    @Test
    fun theStartIsQuiet() {
        assertThat(startLog)
            .contains("Virtual threads: 9 annotated methods, 1 of them without a limit")
            .doesNotContain("on its own object")
            .doesNotContain(" WARN ")
    }

    @Test
    fun aFunctionThatReturnsAFutureRunsOnAVirtualThread() {
        val sent = mailer.send("alice", "Bye").get(120, SECONDS)

        assertThat(sent.to to sent.subject).isEqualTo("alice" to "Bye")
        assertThat(sent.thread).asString().startsWith(VIRTUAL)
        assertThat(sent.thread.name).startsWith("vt-Mailer.send-")
    }

    @Test
    fun defaultArgumentsAreThere() {
        val sent = mailer.send("alice").get(120, SECONDS)

        assertThat(sent.subject).isEqualTo("Hello")
        assertThat(sent.thread.name).startsWith("vt-Mailer.send-")
    }

    @Test
    fun aFunctionThatReturnsNothingRunsOnAVirtualThread() {
        assertThat(threadOf { mailer.note(it) }).startsWith("vt-Mailer.note-")
    }

    @Test
    fun unitCountsAsNothing() {
        assertThat(threadOf { assertThat(mailer.unitOrNull(it)).isNull() }).startsWith("vt-Mailer.unitOrNull-")
    }

    @Test
    fun unitInPlaceOfATypeParameterCountsAsNothing() {
        val job: Job<Unit> = mailer

        assertThat(threadOf { job.run(it) }).startsWith("vt-Mailer.run-")
    }

    @Test
    fun whatAFunctionThrowsComesThroughItsFuture() {
        assertThat(mailer.fail())
            .failsWithin(120, SECONDS)
            .withThrowableThat()
            .withCauseExactlyInstanceOf(IllegalStateException::class.java)
            .withMessageContaining("no post today")
    }

    @Test
    fun aLimitedFunctionHoldsAPermitOnTheThreadOfItsCaller() {
        val permits = application.getBean<TaskLimits>().get("mail").permits()

        assertThat(mailer.free()).isEqualTo(permits - 1)
    }

    @Test
    fun aKeyIsReadByTheNameOfItsParameter() {
        assertThat(mailer.running("alice").get(120, SECONDS)).isEqualTo(1)
        assertThat(mailer.resending(Sent("alice", "Hello", Thread.currentThread()))).isEqualTo(1)
    }

    @Test
    fun aClassIsOpenedByOurAnnotation() {
        assertThat(application.getBean<Archive>().keep().get(120, SECONDS).name).startsWith("vt-Archive.keep-")
    }

    @Test
    fun aSuspendingFunctionFailsTheStart(output: CapturedOutput) {
        startFailsWith(Suspending::class.java)

        assertThat(output.all)
            .contains("APPLICATION FAILED TO START")
            .contains("${Suspending::class.java.name}.send is a suspending function")
    }

    @Test
    fun aClassThatNobodyOpenedFailsTheStart(output: CapturedOutput) {
        startFailsWith(Closed::class.java)

        assertThat(output.all)
            .contains("APPLICATION FAILED TO START")
            .contains("${Closed::class.java.name} has methods with @VirtualThread, but cannot be proxied, because it is final")
            .contains("in Kotlin open, or use the kotlin-spring plugin")
    }

    @Test
    fun aFunctionThatReturnsAValueFailsTheStart(output: CapturedOutput) {
        startFailsWith(Answering::class.java)

        assertThat(output.all)
            .contains("APPLICATION FAILED TO START")
            .contains("${Answering::class.java.name}.answer returns java.lang.String")
    }

    open class Suspending {

        @VirtualThread
        open suspend fun send() {
        }
    }

    class Closed {

        @VirtualThread
        fun send(): CompletableFuture<String> = completedFuture("sent")
    }

    open class Answering {

        @VirtualThread
        open fun answer(): String = "42"
    }

    private fun startFailsWith(bean: Class<*>) {
        val other = SpringApplication(MailApplication::class.java)
        other.addInitializers(ApplicationContextInitializer<GenericApplicationContext> {
            it.registerBeanDefinition("wrong", RootBeanDefinition(bean))
        })

        assertThatThrownBy { other.run() }.isNotNull()
    }

    private fun threadOf(call: (CompletableFuture<Thread>) -> Unit): String {
        val done = CompletableFuture<Thread>()
        call(done)
        val thread = done.get(120, SECONDS)
        assertThat(thread).asString().startsWith(VIRTUAL)
        return thread.name
    }
}
