package io.github.virtualthread.jdbc;

/** What a call of the driver does, as far as it matters when its body is stopped. */
enum Kind {
    /** Is cancelled; not sent any more once the body has been stopped. */
    STATEMENT,
    /** As {@link #STATEMENT}, but cleans up nothing. */
    READ,
    /** Is cancelled; always sent. */
    CLEAN_UP,
    /** Has longer than others, because nobody could tell its outcome otherwise; afterwards it becomes a rollback. */
    COMMIT,
    /** Commits, and so has longer, too; always sent, but what was not committed before is rolled back first. */
    AUTO_COMMIT,
    /** Cannot be cancelled; always sent. */
    OTHER;

    boolean commits() {
        return this == COMMIT || this == AUTO_COMMIT;
    }
}
