/// Passwords: how they are hashed, under which load, and which ones may be used.
///
/// `PasswordHasher` turns a typed password into a `PasswordSecret` (normalised, peppered) and hands one Argon2id run to
/// `HashingPool`, a few threads of low priority behind a queue that is bounded by waiting time, so that a flood of
/// sign-ins is refused at once instead of being slow for all. `HashingPlaces` decides who may still wait, `HashingQueue`
/// whose turn it is: blocks of networks, networks within them and subjects within those go round, and who hangs up goes
/// away. How long a run takes, which the bound is reckoned from, `Calibration` measures once the server is ready, and
/// each run keeps it up. Each run borrows its 64 MiB from `MemoryRegions`, huge pages that are reused while there is
/// work and given back when there is none. `PHCString` is the stored form, and what it reads from a database is bounded
/// before anything is computed from it. `StrengthPolicy` judges new passwords with zxcvbn.
///
/// Measured with 64 MiB and two passes on 2 cores: 13.3 sign-ins a second over HTTP, against 14.2 runs of libargon2 in a
/// bare loop over memory that is reused, and 11 to 12 with memory from malloc. Each takes 147 ms of processor time
/// against 136 ms; all cores at once wait for memory, which is why `Calibration` measures with all threads at once.
///
/// The threads' low priority keeps the server's own calls quick, but counts for nothing beside PostgreSQL, whose backends
/// are sessions of their own to Linux: `GatehouseServer/Bootstrap/SessionPriority` tells what that did, and its remedy. A
/// lower priority of the threads made it worse, as did SCHED_IDLE (`perf sched latency`, and a toy of two busy threads).
