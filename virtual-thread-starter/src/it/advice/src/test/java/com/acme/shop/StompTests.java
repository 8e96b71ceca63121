package com.acme.shop;

import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.MDC;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.context.annotation.Import;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageChannel;
import org.springframework.messaging.handler.annotation.MessageMapping;
import org.springframework.messaging.simp.SimpMessageHeaderAccessor;
import org.springframework.messaging.simp.SimpMessageType;
import org.springframework.messaging.simp.config.ChannelRegistration;
import org.springframework.messaging.support.ChannelInterceptor;
import org.springframework.stereotype.Controller;
import org.springframework.web.socket.config.annotation.EnableWebSocketMessageBroker;
import org.springframework.web.socket.config.annotation.StompEndpointRegistry;
import org.springframework.web.socket.config.annotation.WebSocketMessageBrokerConfigurer;

/**
 * Messages of STOMP, all on one connection, under the common limit. Its own executors make Spring Boot's back off, unless that is
 * forced.
 */
@Timeout(300)
@SpringBootTest(
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "spring.task.execution.mode=force",
            "virtual-thread.limits.common.permits=" + StompTests.PERMITS,
            "virtual-thread.async.executors.applicationTaskExecutor=common"
        })
@Import({StompTests.Broker.class, StompTests.Desk.class})
class StompTests {

    static final int PERMITS = 2;
    private static final int MESSAGES = 6;

    @Autowired
    Broker broker;

    @Autowired
    Desk desk;

    @Value("${local.server.port}")
    int port;

    @Test
    void messagesAreUnderTheLimit() throws Exception {
        HttpClient http = HttpClient.newHttpClient();
        try {
            WebSocket client = http.newWebSocketBuilder()
                    .buildAsync(URI.create("ws://localhost:" + port + "/stomp"), new WebSocket.Listener() {})
                    .get(2, MINUTES);
            send(client, "CONNECT\naccept-version:1.2\nhost:localhost\n");
            for (int number = 0; number < MESSAGES; number++) {
                send(client, "SEND\ndestination:/block\nnumber:%d\n".formatted(number));
            }
            // the thread of the connection has handed all of them over
            for (int number = 0; number < MESSAGES; number++) {
                assertThat(broker.handedOver.poll(2, MINUTES)).isEqualTo(number);
            }
            Stream<Integer> first = Stream.of(desk.begun.poll(2, MINUTES), desk.begun.poll(2, MINUTES));
            assertThat(first).containsExactlyInAnyOrder(0, 1);
            assertThat(desk.begun).isEmpty();

            for (int number = 0; number < MESSAGES; number++) {
                desk.gates.get(number).countDown();
                int next = number + PERMITS;
                if (next < MESSAGES) {
                    assertThat(desk.begun.poll(2, MINUTES)).isEqualTo(next);
                }
                assertThat(desk.done.poll(2, MINUTES))
                        .startsWith("%d on vt-applicationTaskExecutor-".formatted(number))
                        .endsWith("for user " + number);
            }
        } finally {
            http.shutdownNow(); // a close would wait for the connection
            desk.gates.forEach(CountDownLatch::countDown);
        }
    }

    private static void send(WebSocket client, String frame) throws Exception {
        client.sendText(frame + "\n\0", true).get(2, MINUTES);
    }

    @EnableWebSocketMessageBroker
    static class Broker implements WebSocketMessageBrokerConfigurer, ChannelInterceptor {

        final BlockingQueue<Integer> handedOver = new LinkedBlockingQueue<>();

        @Override
        public void registerStompEndpoints(StompEndpointRegistry registry) {
            registry.addEndpoint("/stomp");
        }

        @Override
        public void configureClientInboundChannel(ChannelRegistration registration) {
            registration.interceptors(this);
        }

        @Override
        public Message<?> preSend(Message<?> message, MessageChannel channel) {
            if (isSent(message)) {
                MDC.put("user", "user " + number(message));
            }
            return message;
        }

        @Override
        public void afterSendCompletion(Message<?> message, MessageChannel channel, boolean sent, Exception failure) {
            if (isSent(message)) {
                handedOver.add(number(message));
            }
        }

        private static boolean isSent(Message<?> message) {
            return SimpMessageHeaderAccessor.getMessageType(message.getHeaders()) == SimpMessageType.MESSAGE;
        }

        static int number(Message<?> message) {
            return Integer.parseInt(SimpMessageHeaderAccessor.wrap(message).getFirstNativeHeader("number"));
        }
    }

    /** Its handler blocks until the test opens the gate of the message. */
    @Controller
    static class Desk {

        final BlockingQueue<Integer> begun = new LinkedBlockingQueue<>();
        final BlockingQueue<String> done = new LinkedBlockingQueue<>();
        final List<CountDownLatch> gates = IntStream.range(0, MESSAGES)
                .mapToObj(number -> new CountDownLatch(1))
                .toList();

        @MessageMapping("/block")
        void block(Message<?> message) throws InterruptedException {
            int number = Broker.number(message);
            begun.add(number);
            assertThat(gates.get(number).await(2, MINUTES)).isTrue();
            done.add("%d on %s for %s".formatted(number, Thread.currentThread().getName(), MDC.get("user")));
        }
    }
}
