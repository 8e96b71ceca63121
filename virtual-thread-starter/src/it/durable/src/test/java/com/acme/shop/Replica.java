package com.acme.shop;

import io.github.virtualthread.execution.TaskCall;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.limit.LimitExceededException;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.ApplicationArguments;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

/** The application in a JVM of its own, which places its orders. */
class Replica {

    public static void main(String[] arguments) {
        SpringApplication.run(
                new Class<?>[] {ShopApplication.class, CountingMailServer.class, Placing.class, Rejections.class},
                arguments);
    }

    /** Places the orders of the replica, in each transaction more than the queue takes; after a restart those that are missing. */
    static class Placing implements ApplicationRunner {

        private static final int AT_A_TIME = 200;

        private final Orders orders;
        private final JdbcTemplate jdbc;
        private final TransactionTemplate transaction;
        private final int first;
        private final int end;

        Placing(
                Orders orders,
                JdbcTemplate jdbc,
                TransactionTemplate transaction,
                @Value("${first}") int first,
                @Value("${end}") int end) {
            this.orders = orders;
            this.jdbc = jdbc;
            this.transaction = transaction;
            this.first = first;
            this.end = end;
        }

        @Override
        public void run(ApplicationArguments arguments) {
            int placed = jdbc.queryForObject(
                    "select count(*) from orders where number >= ? and number < ?", Integer.class, first, end);
            for (int next = first + placed; next < end; next += AT_A_TIME) {
                int from = next;
                transaction.executeWithoutResult(status -> {
                    for (int number = from; number < Math.min(from + AT_A_TIME, end); number++) {
                        orders.place(number);
                    }
                });
            }
        }
    }

    /** One line for each, which is in the log also if the JVM is halted. */
    static class Rejections implements TaskListener {

        @Override
        public void rejected(TaskCall call, LimitExceededException rejection) {
            System.out.println("REJECTED " + rejection.reason());
        }
    }
}
