/// Passwords: how they are hashed, how the load is limited, and which passwords are accepted.
///
/// `PasswordHasher` converts a password to a `PasswordSecret` (normalised, peppered) and runs Argon2id in the
/// `HashingPool`. The pool has low-priority threads for all cores but one (for all if there are one or two), and a queue
/// that is limited by waiting time, so that a flood of sign-ins is refused at once instead of delaying all users.
/// `HashingPlaces` decides whether a job may join the queue, and `HashingQueue` decides which job is next.
/// `Calibration` measures the time of a run once the server is ready, and each run updates it. Runs use 64 MiB from
/// `MemoryRegions`, which are huge pages that are reused while there is work. `PHCString` is the stored form; its
/// parameters are checked against limits before anything is computed. `StrengthPolicy` checks new passwords.
