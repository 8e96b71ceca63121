package io.github.virtualthread.sample.catalog;

public class UnknownProductException extends RuntimeException {

    UnknownProductException(long id) {
        super("There is no product " + id);
    }
}
