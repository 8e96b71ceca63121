package com.acme.invoices;

import com.acme.shop.MailServer;
import io.github.virtualthread.Limited;
import org.springframework.stereotype.Component;

@Component
public class InvoiceMails {

    private final MailServer mailServer;

    InvoiceMails(MailServer mailServer) {
        this.mailServer = mailServer;
    }

    @Limited("mail")
    public void send(int number) {
        mailServer.send(number);
    }
}
