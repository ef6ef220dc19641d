-- When the cookie of the session was last given out, at the entrance or after a new proof. A later proof that the person
-- gives elsewhere renews the session that the cookie belongs to, but must not count for a copy of the cookie.

ALTER TABLE console_sessions ADD COLUMN proven_at timestamptz NOT NULL DEFAULT now();
