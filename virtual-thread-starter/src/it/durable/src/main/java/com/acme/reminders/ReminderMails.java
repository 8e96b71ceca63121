package com.acme.reminders;

import com.acme.shop.MailServer;
import io.github.virtualthread.Limited;
import org.springframework.stereotype.Component;

@Component
public class ReminderMails {

    private final MailServer mailServer;

    ReminderMails(MailServer mailServer) {
        this.mailServer = mailServer;
    }

    @Limited("mail") // waits on the thread of the scheduler
    public void send(int number) {
        mailServer.send(number);
    }
}
