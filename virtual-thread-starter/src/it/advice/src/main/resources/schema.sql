create table orders (name varchar(50) primary key);
create table parcels (name varchar(50) primary key);
