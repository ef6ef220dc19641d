import GatehouseServer
import GatehouseTesting
import Postgres
import Testing

@Suite struct ListenerTests {
    @Test func notificationsArriveAndALostConnectionIsSeen() async throws {
        try await withDatabase { database in
            let (events, continuation) = AsyncStream.makeStream(of: Listener.Event.self)
            let listener = database.listen(to: "odd \"channel\"") { continuation.yield($0) }
            var received = events.makeAsyncIterator()
            #expect(await received.next() == .connected)
            try await eventually { listener.isCurrent }

            _ = try await database.execute(.notify, .text("été"))
            #expect(await received.next() == .notification("été"))

            _ = try await database.execute(.terminateListener)
            #expect(await received.next() == .disconnected)
            #expect(await received.next() == .connected)
            try await eventually { listener.isCurrent }
            _ = try await database.execute(.notify, .text(""))
            #expect(await received.next() == .notification(""))

            // the connection is probed; without that it would count as outdated after 0.7 s
            try await Task.sleep(for: .seconds(1))
            #expect(listener.isCurrent)
            database.stopListening(listener)
            #expect(await received.next() == .disconnected)
            #expect(!listener.isCurrent)
        }
    }

    @Test func notificationsThatAreDroppedAreMissed() async throws {
        let url = try await TemporaryPostgres.database()
        let pooler = try DatabaseProxy(before: url)
        defer { pooler.stop() }
        try await withDatabase(url: DatabaseProxy.url(url, by: [pooler])) { database in
            let (events, continuation) = AsyncStream.makeStream(of: Listener.Event.self)
            let listener = database.listen(to: "odd \"channel\"") { continuation.yield($0) }
            var received = events.makeAsyncIterator()
            #expect(await received.next() == .connected)
            try await eventually { listener.isCurrent }
            pooler.turn(.droppingNotifications)
            _ = try await database.execute(.notify, .text("lost"))
            try await eventually { !listener.isCurrent }
            pooler.turn(.forwarding)
            #expect(await received.next() == .connected, "what was lost is to be loaded")
            try await eventually { listener.isCurrent }
            _ = try await database.execute(.notify, .text("heard"))
            #expect(await received.next() == .notification("heard"))
        }
    }

    @Test func aServerThatHangsIsNotCurrent() async throws {
        let cluster = TemporaryPostgres.cluster()
        try await cluster.start()
        try await withDatabase(url: cluster.url) { database in
            let (events, continuation) = AsyncStream.makeStream(of: Listener.Event.self)
            let listener = database.listen(to: "channel") { continuation.yield($0) }
            var received = events.makeAsyncIterator()
            #expect(await received.next() == .connected)
            let processes = [
                try await database.value(.postmaster) as Int, try await database.value(.listenerBackend) as Int,
            ]
            for process in processes { try signal("STOP", to: process) }
            let start = ContinuousClock.now
            #expect(await received.next() == .disconnected)
            #expect(!listener.isCurrent)
            #expect(ContinuousClock.now - start < .seconds(3))
            for process in processes { try signal("CONT", to: process) }
            #expect(await received.next() == .connected)
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
