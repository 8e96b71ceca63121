-- PostgreSQL: what the replicas of applications hold of the permits of their limits with cluster-permits.
-- The row of a limit with member '*' is what is locked; it has the epoch, and ends when shares may grow again.
create table if not exists virtual_thread_limit (
  cluster_name varchar(100) not null,
  limit_name   varchar(400) not null,
  member_name  varchar(250) not null,
  epoch        varchar(36) not null,
  permits      int not null,
  holds        int not null,
  wants        int not null,
  claim_number bigint not null,
  ends_at      bigint not null,
  primary key (cluster_name, limit_name, member_name)
);
