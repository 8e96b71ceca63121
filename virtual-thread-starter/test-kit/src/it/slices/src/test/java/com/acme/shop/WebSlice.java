package com.acme.shop;

import static io.github.virtualthread.test.LimitAssert.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.startsWith;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.asyncDispatch;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.content;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.request;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

import io.github.virtualthread.limit.TaskLimit.Occupation;
import io.github.virtualthread.limit.TaskLimits;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.ResultActions;

/** There is neither a data source nor anything that lends permits to replicas. */
public abstract class WebSlice {

    @Autowired
    private MockMvc mvc;

    @Autowired
    private TaskLimits limits;

    @Test
    void aMethodOfAControllerRunsOnAVirtualThread() throws Exception {
        thread().andExpect(status().isOk()).andExpect(content().string(startsWith("vt-ShopController.thread-")));
        assertThat(limits.get("db").completed()).isPositive();
        assertThat(limits.get("db")).isIdle();
    }

    @Test
    void aRejectionIsAnswered() throws Exception {
        try (Occupation full = limits.get("db").occupy()) {
            thread().andExpect(status().isServiceUnavailable());
        }
    }

    @Test
    void limitsNeedNeitherTheirPoolNorOtherReplicas() {
        assertThat(limits.get("db")).hasAvailable(10);
        assertThat(limits.get("partner")).hasAvailable(4);
        assertThat(limits.get("partner").clusterPermits()).isNull();
    }

    private ResultActions thread() throws Exception {
        return mvc.perform(asyncDispatch(
                mvc.perform(get("/thread")).andExpect(request().asyncStarted()).andReturn()));
    }
}
