package com.acme.shop;

/** What can take only a few calls at once. */
public interface MailServer {

    void send(int number);
}
