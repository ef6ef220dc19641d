-- Links with which people become administrators; each is a proof of `admin.application`.
--
-- The earlier text had one ALTER TABLE, which Citus refuses on a distributed table.
-- Replaces b08f9a65d7eed89aaed6579146a0a8a8fafaf1492b4c3365020e37ada936d6ab

ALTER TABLE proofs
    -- The role that the link gives, and the application that it is for; 0 for all.
    ADD COLUMN admin_role text COLLATE "C",
    ADD COLUMN granted_on int,
    -- The administrator who made the link; null for a command.
    ADD COLUMN invited_by uuid;
ALTER TABLE proofs ADD CONSTRAINT proofs_admin_invitations CHECK (
    (admin_role IS NOT NULL) = (kind = 'admin-invitation')
    AND (granted_on IS NOT NULL) = (kind = 'admin-invitation'));
ALTER TABLE proofs ADD CONSTRAINT proofs_application_id_invited_by_fkey
    FOREIGN KEY (application_id, invited_by) REFERENCES accounts (application_id, uid) ON DELETE CASCADE;
CREATE INDEX proofs_invited_by ON proofs (application_id, invited_by) WHERE invited_by IS NOT NULL;
