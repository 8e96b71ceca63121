package io.github.virtualthread.sample.lab;

/** Where an experiment stands in the story that the page tells. */
public enum Act {
    WAITING_IS_CHEAP("Waiting is cheap"),
    THE_QUEUE_HAS_MOVED("The queue has moved"),
    LIMIT_THE_RESOURCE("Put the limit where the resource is");

    private final String title;

    Act(String title) {
        this.title = title;
    }

    public String title() {
        return title;
    }
}
