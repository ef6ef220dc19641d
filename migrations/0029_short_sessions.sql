-- Whether the app asked for a short session when it began the flow. The session itself needs no mark: its expires_at is
-- earlier. A flow that the previous version begins is none; it lives for ten minutes.
ALTER TABLE redirect_flows ADD COLUMN is_short boolean NOT NULL DEFAULT false;
