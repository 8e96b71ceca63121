-- What the mail server has got: no key, so that a second mail would be seen.
create table mails (number int, replica text, at_once int);
