create table brand (id bigint primary key, name varchar(100));
