-- Erasures as a queue: the next one to look at first, whether it is due or was put off.
CREATE INDEX erasures_next ON erasures ((coalesce(look_again_at, purge_after)))
    WHERE restored_at IS NULL AND erased_at IS NULL;
