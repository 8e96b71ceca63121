-- makes a query take a while inside the database
create alias sleep for 'java.lang.Thread.sleep(long)';

create table product (
    id bigint generated always as identity primary key,
    name varchar(100) not null,
    price numeric(10, 2) not null,
    stock int not null
);
