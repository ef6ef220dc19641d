-- Account events on their way to webhooks, and the languages that an account's owner reads.

-- One row for each event and webhook: whether it was acknowledged can be asked for, and awaited. It holds ids and
-- names of providers, no address; it outlives the account, whose erasure is told last.
CREATE TABLE webhook_deliveries (
    application_id  int NOT NULL,
    event_id        uuid NOT NULL,
    -- Its URL; the configuration may no longer have it.
    webhook         text COLLATE "C" NOT NULL,
    name            text NOT NULL,
    kind            text COLLATE "C" NOT NULL,
    uid             uuid NOT NULL,
    details         jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(details) = 'object'),
    created_at      timestamptz NOT NULL DEFAULT now(),
    due_at          timestamptz NOT NULL DEFAULT now(),
    -- A worker has it until then, whoever asks for haste.
    leased_until    timestamptz,
    attempts        int NOT NULL DEFAULT 0,
    acknowledged_at timestamptz,
    failed_at       timestamptz,
    failure         text,
    PRIMARY KEY (application_id, event_id, webhook),
    CHECK (acknowledged_at IS NULL OR failed_at IS NULL)
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook, due_at)
    WHERE acknowledged_at IS NULL AND failed_at IS NULL;
CREATE INDEX webhook_deliveries_of_account ON webhook_deliveries (application_id, uid, kind);
-- What sweepers look for; an erasure rests on whether the others were acknowledged.
CREATE INDEX webhook_deliveries_ended ON webhook_deliveries (created_at)
    WHERE (acknowledged_at IS NOT NULL OR failed_at IS NOT NULL) AND kind NOT IN ('account.deleted', 'account.erased');

-- As Accept-Language has them (RFC 9110, 12.5.4), cut short.
ALTER TABLE accounts ADD COLUMN locale text CHECK (octet_length(locale) <= 200);
