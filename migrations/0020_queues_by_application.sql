-- Queues are read one application at a time, oldest entry first. These indexes contain only what still waits. Creating
-- one reads its table once, and changes of the table wait meanwhile.

CREATE INDEX outbox_due_of_application ON outbox (application_id, channel, due_at)
    WHERE sent_at IS NULL AND failed_at IS NULL;
CREATE INDEX webhook_deliveries_due_of_application ON webhook_deliveries (application_id, webhook, due_at)
    WHERE acknowledged_at IS NULL AND failed_at IS NULL;
CREATE INDEX token_revocations_due_of_application ON token_revocations (application_id, due_at)
    WHERE revoked_at IS NULL AND failed_at IS NULL;
CREATE INDEX erasures_next_of_application ON erasures (application_id, (coalesce(look_again_at, purge_after)))
    WHERE restored_at IS NULL AND erased_at IS NULL;

-- The previous version reads outbox_due_by_channel, webhook_deliveries_due, token_revocations_due and erasures_next. A
-- later migration can drop them, once no server of that version runs.
