-- Text messages leave by the outbox too, in a lane of their own, and within a budget.

ALTER TABLE outbox
    ADD COLUMN channel text NOT NULL DEFAULT 'email' CHECK (channel IN ('email', 'sms')),
    -- It is on the budget; an attempt that follows costs nothing more.
    ADD COLUMN counted_at timestamptz;

CREATE INDEX outbox_due_by_channel ON outbox (channel, due_at) WHERE sent_at IS NULL AND failed_at IS NULL;
DROP INDEX outbox_due;

-- What has left in the current window. Logged, so that a crash gives nothing back.
CREATE TABLE text_budget (
    -- A range of numbers, as in +33612, or `all`.
    scope        text COLLATE "C" PRIMARY KEY,
    window_start timestamptz NOT NULL,
    counted      int NOT NULL
);
