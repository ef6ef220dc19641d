import GatehouseTesting
import Logging
import Postgres
import Synchronization
import Testing

@testable import Storage

struct OutboxArrivalsTests {
    @Test func `what is queued at the same moment is announced by one notification`() async throws {
        let database = Database(
            Database.Configuration(url: try await TemporaryPostgres.database()), logger: Logger(label: "test"))
        database.start()
        let (events, continuation) = AsyncStream.makeStream(of: Listener.Event.self)
        let listener = database.listen(to: ReplicaChannel.name) { continuation.yield($0) }
        var heard = events.makeAsyncIterator()
        #expect(await heard.next() == .connected)
        let arrivals = OutboxArrivals(database: database)
        for _ in 1...2 {
            for _ in 1...100 { arrivals.announce() }
            #expect(await heard.next() == .notification("outbox"))
        }
        // Had there been others, they would have arrived before this one. A pause of the machine splits a moment in two.
        _ = try await database.execute(.announceKeys)
        var others = 0
        while let event = await heard.next(), event != .notification("keys") {
            #expect(event == .notification("outbox"))
            others += 1
        }
        #expect(others < 20, "200 announcements")
        database.stopListening(listener)
        await database.stop()
    }
}

extension Statement {
    fileprivate static let announceKeys = Self(.write, "SELECT pg_notify('gatehouse', 'keys')")
}
