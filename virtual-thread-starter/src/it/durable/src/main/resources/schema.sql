create table orders (number int primary key);
create table confirmations (number int primary key);
