-- What administrators of the server look at: erasures, deliveries, messages and the audit.

-- When an administrator had it sent again; the time for which delivery is attempted runs from there.
ALTER TABLE webhook_deliveries ADD COLUMN requeued_at timestamptz;
ALTER TABLE outbox
    ADD COLUMN requeued_at timestamptz,
    -- A worker has it until then.
    ADD COLUMN leased_until timestamptz;

-- The lists, by state. Creating an index reads its table once, and changes of the table wait meanwhile.
CREATE INDEX erasures_listed ON erasures (application_id, requested_at, receipt);
CREATE INDEX erasures_by_status ON erasures (
    application_id,
    (CASE WHEN erased_at IS NOT NULL THEN 'erased' WHEN restored_at IS NOT NULL THEN 'restored' ELSE 'scheduled' END),
    requested_at, receipt);
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (application_id, event_id, webhook)
    WHERE acknowledged_at IS NULL AND failed_at IS NULL;
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (application_id, event_id, webhook)
    WHERE failed_at IS NOT NULL;
CREATE INDEX outbox_pending ON outbox (application_id, id) WHERE sent_at IS NULL AND failed_at IS NULL;
CREATE INDEX outbox_failed_of_application ON outbox (application_id, id) WHERE failed_at IS NOT NULL;

-- The audit by its filters; only what administrators do has an actor.
CREATE INDEX audit_events_by_event ON audit_events (application_id, event, at, id);
CREATE INDEX audit_events_by_actor ON audit_events (application_id, (details->'actor'), at, id)
    WHERE (details->'actor') IS NOT NULL;

-- The account that an event of the audit names by its pseudonym.
CREATE INDEX accounts_by_pseudonym ON accounts USING hash (sha256(audit_key || uuid_send(uid)));
