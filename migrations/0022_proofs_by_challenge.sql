-- A generic plan can't use an index of one kind of proof, because the kind is a parameter. The ids of challenges are
-- random, so they are also unique among all kinds.

CREATE UNIQUE INDEX proofs_by_challenge ON proofs (application_id, challenge_id) WHERE challenge_id IS NOT NULL;
DROP INDEX proofs_challenge;
DROP INDEX proofs_change;
