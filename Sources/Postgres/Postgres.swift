/// An asynchronous client of PostgreSQL on libpq, and the migrator.
///
/// A `Database` has one thread, the `Reactor`, which owns every `Connection` and waits in `poll()`. A caller of
/// `execute` encodes its binds, leaves a `Request` in the `Inbox` and suspends; the reactor hands the request to libpq
/// and settles the request's `Promise` with the answer; the caller decodes the rows on its own thread. A few connections
/// in libpq's pipeline mode carry all single statements; `transaction` gets a connection of its own, its
/// `Lease`; a `Listener` has one too. Connecting and cancelling, where libpq blocks, happen on short-lived threads.
///
/// What the shape comes from:
/// - A sync per statement costs half the throughput. Reads that wait at the same moment share one sync, and so one
///   implicit transaction; after an error the server skips the rest of such a batch, which is then sent again, one sync
///   each. A write always has its own, because it commits there.
/// - A lost connection leaves each write in flight uncertain: `.connectionLost(maybeExecuted: true)`. Reads are sent once
///   more. Inside a transaction only COMMIT can be uncertain.
/// - One slow statement holds up all behind it in its pipeline. So the server limits statements and lock waits, and
///   a statement that waits for locks on purpose belongs in a transaction.
/// - Cancellation frees the caller at once, and the late answer is dropped. Inside a transaction the server is
///   signalled too, and ROLLBACK waits until the signal has been delivered, which could otherwise cancel the ROLLBACK.
/// - libpq's results end with NULL, but a pipeline sync has none; and errors that libpq makes up have no SQLSTATE, by
///   which distinguishes a broken connection from a failed statement.
/// - Prepared statements are named after their text and parameter types, so that one found on a shared session is the
///   right one. Behind a pooler in transaction mode (PgBouncer from 1.21 on) statements and transactions work, but
///   neither the session's time limits nor LISTEN, which a `Listener` finds out: prefer its session mode.
/// - What a statement costs PostgreSQL is mostly its own start, not its rows: of `GET /auth/me` it took 77 to 124 µs with
///   a statement for each call, 60 with sixteen keys in one, and 31 with all that wait while one is under way
///   (`Storage/JoinedReads`). Of the server's own 183 µs, `perf` found a tenth in copying what every request refers to,
///   in an id from the system's random numbers and in printing an address; without those it is 124.
/// - A prepared statement keeps a plan that was made when its tables were empty, until they are analysed; autovacuum comes
///   once a minute. `Storage/PlannerStatistics` doesn't wait for it: 200 refreshes a second became 2,500.
/// - A statement whose result type a migration changes is prepared again, but inside a transaction it fails first: name
///   the columns instead of selecting `*`.
