package io.github.virtualthread.sample.partner;

public record Review(int stars, String text) {}
