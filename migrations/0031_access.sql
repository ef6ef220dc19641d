-- What an application's own services may know of an account's rights, which only administrators set. Access tokens carry
-- both.

ALTER TABLE accounts
    -- Names of roles, sorted and without repetitions.
    ADD COLUMN roles text[] NOT NULL DEFAULT '{}',
    ADD COLUMN claims jsonb NOT NULL DEFAULT '{}';
-- NOT VALID saves the scan of the table, whose accounts all have the defaults.
ALTER TABLE accounts ADD CONSTRAINT accounts_roles CHECK (cardinality(roles) <= 32) NOT VALID;
ALTER TABLE accounts ADD CONSTRAINT accounts_claims CHECK (jsonb_typeof(claims) = 'object') NOT VALID;
