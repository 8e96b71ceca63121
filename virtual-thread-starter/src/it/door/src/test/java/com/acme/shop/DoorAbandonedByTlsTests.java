package com.acme.shop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.security.KeyStore;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Clients that speak TLS: the table of the kernel has them too. */
@Timeout(300)
@EnabledOnOs(OS.LINUX) // the others do not tell of clients that have gone
class DoorAbandonedByTlsTests {

    private static final String STORE = "localhost.p12";
    private static final String PASSWORD = "localhost";

    @Test
    void oneThatGoesAwayEndsItsCallAndOneThatStaysIsAnswered() throws Exception {
        try (Shop shop = Shop.cancelling(
                "server.ssl.key-store=classpath:" + STORE, "server.ssl.key-store-password=" + PASSWORD)) {
            String left = Shop.newId();
            String stayed = Shop.newId();
            try (Exchange leaving = send(shop, left);
                    Exchange staying = send(shop, stayed)) {
                Meeting.await(shop.meetings.of(left).bodyBegun);
                Meeting.await(shop.meetings.of(stayed).bodyBegun);

                leaving.close();

                Meeting.await(shop.meetings.of(left).bodyInterrupted);
                shop.meetings.of(stayed).gate.countDown();
                assertThat(staying.readOne().body()).isEqualTo(stayed);
            }
        }
    }

    private static Exchange send(Shop shop, String id) throws Exception {
        Exchange exchange = Exchange.over(sockets().createSocket(InetAddress.getLoopbackAddress(), shop.port()));
        exchange.write("GET /work/future?id=%s HTTP/1.1\r\nHost: localhost\r\n\r\n".formatted(id));
        return exchange;
    }

    private static SSLSocketFactory sockets() throws Exception {
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        try (InputStream store = DoorAbandonedByTlsTests.class.getClassLoader().getResourceAsStream(STORE)) {
            trusted.load(store, PASSWORD.toCharArray());
        } catch (IOException failure) {
            throw new IllegalStateException(STORE, failure);
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context.getSocketFactory();
    }
}
