-- The provider is asked to have the person sign in again: only such a flow re-authenticates. A flow that the previous
-- version begins is none; it lives for ten minutes.
ALTER TABLE redirect_flows ADD COLUMN is_fresh boolean NOT NULL DEFAULT false;
