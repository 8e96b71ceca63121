insert into product (name, price, stock) values ('Tea cup', 12.90, 40), ('Tea towel', 8.50, 0), ('Kettle', 39.00, 7);
