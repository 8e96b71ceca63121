-- PostgreSQL: what the replicas of applications hold of the permits of their limits with cluster-permits.
-- Each limit is one row; ledger has a line for the limit and one for each replica.
create table if not exists virtual_thread_limit (
  cluster_name varchar(100) not null,
  limit_name   varchar(400) not null,
  version      bigint not null,
  ledger       text not null,
  primary key (cluster_name, limit_name)
);
