-- An undone merge leaves the absorbed account the passwords that a reset has set, since their owner can read the mailbox.

ALTER TABLE passwords
    -- Equals changed_at if a link that was mailed to the identity's own address has set the password.
    ADD COLUMN reset_at timestamptz;
