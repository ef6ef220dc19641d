import GatehouseServer
import GatehouseTesting
import Postgres
import Testing

@Suite(.timeLimit(.minutes(2))) struct ListenerTests {
    /// The events of one channel.
    ///
    /// A pause of this machine can end the connection and lose notifications, so further events may come in between.
    private struct Events {
        let listener: Listener
        private let database: Database
        private var received: AsyncStream<Listener.Event>.Iterator

        init(of channel: String, in database: Database) {
            let (events, continuation) = AsyncStream.makeStream(of: Listener.Event.self)
            self.database = database
            listener = database.listen(to: channel) { continuation.yield($0) }
            received = events.makeAsyncIterator()
        }

        mutating func skip(to expected: Listener.Event) async {
            while let event = await received.next(), event != expected {}
        }

        /// Sends a notification, again after each new connection, until it arrives; `lost` must not arrive before.
        mutating func hear(_ text: String, losing lost: String? = nil) async throws {
            _ = try await database.execute(.notify, .text(text))
            while let event = await received.next(), event != .notification(text) {
                if event == .connected { _ = try await database.execute(.notify, .text(text)) }
                if let lost { #expect(event != .notification(lost)) }
            }
        }
    }

    @Test func notificationsArriveAndALostConnectionIsSeen() async throws {
        try await withDatabase { database in
            var events = Events(of: "odd \"channel\"", in: database)
            let listener = events.listener
            await events.skip(to: .connected)
            try await eventually { listener.isCurrent }
            try await events.hear("été")

            _ = try await database.execute(.terminateListener)
            await events.skip(to: .disconnected)
            await events.skip(to: .connected)
            try await eventually { listener.isCurrent }
            try await events.hear("")

            // The connection is probed; without that it would count as outdated after 0.7 s.
            try await Task.sleep(for: .seconds(1))
            try await eventually { listener.isCurrent }
            database.stopListening(listener)
            await events.skip(to: .disconnected)
            #expect(!listener.isCurrent)
        }
    }

    @Test func notificationsThatAreDroppedAreMissed() async throws {
        let url = try await TemporaryPostgres.database()
        let pooler = try DatabaseProxy(before: url)
        defer { pooler.stop() }
        try await withDatabase(url: DatabaseProxy.url(url, by: [pooler])) { database in
            var events = Events(of: "odd \"channel\"", in: database)
            let listener = events.listener
            await events.skip(to: .connected)
            try await eventually { listener.isCurrent }
            pooler.turn(.droppingNotifications)
            _ = try await database.execute(.notify, .text("lost"))
            try await eventually { !listener.isCurrent }
            pooler.turn(.forwarding)
            // What was lost is to be loaded.
            await events.skip(to: .connected)
            try await eventually { listener.isCurrent }
            try await events.hear("heard", losing: "lost")
        }
    }

    @Test func aServerThatHangsIsNotCurrent() async throws {
        let cluster = TemporaryPostgres.cluster()
        try await cluster.start()
        try await withDatabase(url: cluster.url) { database in
            var events = Events(of: "channel", in: database)
            let listener = events.listener
            await events.skip(to: .connected)
            let processes = [
                try await database.value(.postmaster) as Int, try await database.value(.listenerBackend) as Int,
            ]
            for process in processes { try signal("STOP", to: process) }
            let start = ContinuousClock.now
            await events.skip(to: .disconnected)
            #expect(!listener.isCurrent)
            #expect(ContinuousClock.now - start < .seconds(10))
            for process in processes { try signal("CONT", to: process) }
            await events.skip(to: .connected)
        }
        await cluster.stop()
    }

    @Test func aTransactionOutlivesAHangingListener() async throws {
        let cluster = TemporaryPostgres.cluster()
        try await cluster.start()
        try await withDatabase(url: cluster.url) { database in
            var events = Events(of: "channel", in: database)
            await events.skip(to: .connected)
            let listener = try await database.value(.listenerBackend) as Int
            try await database.transaction { transaction in
                let backend = try await transaction.value(.backend) as Int
                try signal("STOP", to: listener)
                await events.skip(to: .disconnected)
                #expect(try await transaction.value(.backend) as Int == backend)
            }
            try signal("CONT", to: listener)
        }
        await cluster.stop()
    }
}

extension Statement {
    fileprivate static let notify = Self(.write, "SELECT pg_notify('odd \"channel\"', $1)")
    fileprivate static let terminateListener = Self(
        .write,
        """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND (query LIKE 'LISTEN%' OR query = 'SELECT 1') AND pid <> pg_backend_pid()
        """)
    fileprivate static let postmaster = Self(
        .read, "SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int8")
    fileprivate static let listenerBackend = Self(
        .read, "SELECT max(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' OR query = 'SELECT 1'")
}
