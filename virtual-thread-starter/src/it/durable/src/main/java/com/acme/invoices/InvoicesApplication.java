package com.acme.invoices;

import org.springframework.boot.autoconfigure.SpringBootApplication;

@SpringBootApplication
public class InvoicesApplication {}
