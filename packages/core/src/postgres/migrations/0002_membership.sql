-- What an instance declares about its partitions: their counts, its weight. Null where it has none.
alter table {schema}.instance add column membership jsonb;
