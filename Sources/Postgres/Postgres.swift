/// An asynchronous client of PostgreSQL on libpq, and the migrator.
///
/// A `Database` has one thread, the `Reactor`, which owns every `Connection` and waits in `poll()`. A caller of
/// `execute` encodes its binds, puts a `Request` in the `Inbox` and suspends. The reactor passes the request to libpq
/// and settles the request's `Promise` with the answer; the caller decodes the rows on its own thread. A few
/// connections in libpq's pipeline mode carry all single statements. A `transaction` gets a connection of its own, its
/// `Lease`, and so does a `Listener`. libpq blocks while it connects and cancels, so both happen on short-lived
/// threads.
///
/// The reasons for this design:
/// - A sync after each statement costs half the throughput. Reads that wait at the same time therefore share one sync,
///   and with it one implicit transaction. After an error, the server skips the rest of such a batch; those reads are
///   sent again with one sync each. A write always has its own sync, because the sync commits it; if the commit fails,
///   the error concerns this write only.
/// - Statements of a transaction can be sent without waiting for the answers of earlier ones. They are kept until the
///   caller waits for an answer, so that they share a sync. After an error, the server skips or refuses the rest; COMMIT
///   and ROLLBACK begin a batch of their own, so that they are never skipped.
/// - A lost connection leaves the outcome of each write in flight uncertain: `.connectionLost(maybeExecuted: true)`.
///   Reads are sent once more. In a transaction, only the outcome of COMMIT can be uncertain.
/// - A slow statement delays all statements behind it in its pipeline. The server therefore limits the time of
///   statements and lock waits, and a statement that is expected to wait for locks belongs in a transaction.
/// - Cancellation returns to the caller at once, and the late answer is dropped. In a transaction, the server is
///   requested to cancel the statement too. ROLLBACK is sent only once that request is complete, because the request
///   could otherwise cancel the ROLLBACK.
/// - libpq ends the results of a statement with NULL, but not those of a pipeline sync. Errors that libpq generates
///   have no SQLSTATE, which distinguishes a lost connection from a failed statement.
/// - Prepared statements are named after their text and parameter types, so that a statement that already exists in a
///   shared session is the right one. Behind a pooler in transaction mode (PgBouncer 1.21 or later), statements and
///   transactions work, but the session's settings and LISTEN don't. A `Listener` detects this; prefer the pooler's
///   session mode.
/// - Most of the cost of a short statement in PostgreSQL is its start, not its rows: see `Storage/Database/JoinedCalls`.
/// - A prepared statement whose plan was made when its tables were empty keeps that plan until the tables are analysed,
///   and autovacuum runs only once a minute. `Storage/Database/PlannerStatistics` analyses them earlier, which raised 200
///   refreshes a second to 2,500.
/// - A statement whose result type is changed by a migration is prepared again. In a transaction, it fails first, so
///   name the columns instead of selecting `*`.
