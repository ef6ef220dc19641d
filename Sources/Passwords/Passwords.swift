/// Passwords: how they are hashed, under which load, and which ones may be used.
///
/// `PasswordHasher` turns a typed password into a `PasswordSecret` (normalised, peppered) and runs Argon2id in the
/// `HashingPool`: one low-priority thread for each core behind a queue that is limited by waiting time, so that a flood of
/// sign-ins is refused at once instead of slowing everyone down. `HashingPlaces` decides who may join the queue,
/// `HashingQueue` whose turn it is. `Calibration` measures the time of a run once the server is ready, and each run
/// updates it. Runs borrow their 64 MiB from `MemoryRegions`, huge pages that are reused while there is work. `PHCString`
/// is the stored form; its parameters are limited before anything is computed. `StrengthPolicy` checks new passwords.
///
/// Measured with 64 MiB and two passes on 2 cores: 13.3 sign-ins a second over HTTP, 14.2 runs of libargon2 in a loop with
/// reused memory, and 11 to 12 with memory from malloc.
///
/// The threads' priority does not count against PostgreSQL, whose backends are other sessions to Linux;
/// `GatehouseServer/Bootstrap/SessionPriority` handles those.
