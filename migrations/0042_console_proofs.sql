-- When the person last proved who they are to get the cookie of the session. A proof that they give elsewhere renews the
-- session that the cookie belongs to, but must not count for a copy of the cookie.

ALTER TABLE console_sessions ADD COLUMN proven_at timestamptz NOT NULL DEFAULT now();
