package com.acme.shop;

public record OrderPlaced(int number) {}
