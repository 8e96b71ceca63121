--liquibase formatted sql

--changeset shop:1
create table product (id bigint primary key, name varchar(100));
