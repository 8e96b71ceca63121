package io.github.virtualthread.docs.weaving;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.VirtualThread;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.stereotype.Service;

// example: Newsletter
@Service
class Newsletter {

    private final ObjectProvider<Newsletter> self; // a proxy each time, and no circle at the start

    Newsletter(ObjectProvider<Newsletter> self) {
        this.self = self;
    }

    List<CompletableFuture<Boolean>> sendAll(List<String> readers) {
        return readers.stream().map(self.getObject()::send).toList();
    }

    @VirtualThread("mail")
    CompletableFuture<Boolean> send(String reader) {
        return completedFuture(deliver(reader));
    }
    // end

    private boolean deliver(String reader) {
        return !reader.isEmpty() && Thread.currentThread().isVirtual();
    }
    // example: Newsletter
}
// end
