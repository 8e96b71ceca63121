package io.github.virtualthread.aop;

import io.github.virtualthread.VirtualThread;

/** What is found of a method: its name, its declaration and its limit. */
abstract class FoundMethods {

    final AnnotatedMethods methods = new AnnotatedMethods(VirtualThread.class);

    @VirtualThread("base")
    static class Base {
        public void inherited() {}

        public void overridden() {}
    }

    static class Sub extends Base {
        @Override
        public void overridden() {}

        public void added() {}
    }

    String limit(Class<?> type, String name) {
        return declaration(type, name).limit();
    }

    Declaration declaration(Class<?> type, String name) {
        return find(type, name).declaration();
    }

    AnnotatedMethod find(Class<?> type, String name) {
        return methods.in(type).stream()
                .filter(each -> each.method().getName().equals(name))
                .findFirst()
                .orElseThrow();
    }

    String[] names(Class<?> type) {
        return methods.in(type).stream().map(each -> each.method().getName()).toArray(String[]::new);
    }
}
