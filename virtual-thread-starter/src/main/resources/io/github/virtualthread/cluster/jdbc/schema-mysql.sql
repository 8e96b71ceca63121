-- MySQL 8.0.17 or later: what the replicas of applications hold of the permits of their limits with cluster-permits.
-- Each limit is one row, beside one of version 0 that never changes; ledger has a line for the limit and one for each replica. With the
-- version in the key, whoever looks for the latest finds it first, also while PostgreSQL keeps all former ones for an open snapshot.
create table if not exists virtual_thread_limit (
  cluster_name varchar(100) not null,
  limit_name   varchar(400) not null,
  version      bigint not null,
  ledger       mediumtext not null,
  primary key (cluster_name, limit_name, version)
) engine = InnoDB character set utf8mb4 collate utf8mb4_0900_bin;
