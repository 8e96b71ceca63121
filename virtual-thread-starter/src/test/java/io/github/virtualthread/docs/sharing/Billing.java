package io.github.virtualthread.docs.sharing;

import io.github.virtualthread.Limited;
import io.github.virtualthread.docs.Shop.Price;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Service;

// example: Billing
@Service
class Billing {

    @Autowired
    Invoices invoices;

    @Limited("db")
    Price bill(long id) {
        return invoices.find(id); // also @Limited("db"): runs under the permit of this call
    }
}
// end
