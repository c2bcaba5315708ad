enum Replication {}
