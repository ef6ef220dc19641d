import Foundation
import NIOHTTP1
import ProviderKit
import Synchronization
import Testing

@testable import GatehouseClient

/// An app with a client of a server, whose network and storage the test controls.
struct SwiftApp: Sendable {
    let transport = FailingTransport()
    let storage: LimitedStorage
    let client: GatehouseClient
    let changes: RecordedChanges

    /// Creates the app; with the storage of another one it is that app after a restart.
    init(
        _ server: TestServer, storage: LimitedStorage = .init(), timeout: Duration = .seconds(90),
        renewsByItself: Bool = false
    ) throws {
        self.storage = storage
        var options = GatehouseClient.Options(
            storage: storage, transport: transport, deviceName: "Kitchen", timeout: timeout,
            renewsByItself: renewsByItself)
        options.firstPause = .milliseconds(1)
        let url = try #require(URL(string: server.url))
        client = GatehouseClient(url: url, application: "demo", options: options)
        changes = RecordedChanges(client.changes)
    }
}

/// A storage that can be full.
final class LimitedStorage: GatehouseClient.Storage {
    struct Full: Error {}

    private let state = Mutex<(data: Data?, isFull: Bool)>((nil, false))

    var place: String? { nil }
    var isFull: Bool {
        get { state.withLock { $0.isFull } }
        set { state.withLock { $0.isFull = newValue } }
    }
    var isEmpty: Bool { load() == nil }

    func load() -> Data? { state.withLock { $0.data } }

    func save(_ data: Data) throws {
        try state.withLock { state in
            if state.isFull { throw Full() }
            state.data = data
        }
    }

    func remove() { state.withLock { $0.data = nil } }
}

/// The changes that a client has reported so far.
final class RecordedChanges: Sendable {
    private let recorded = Mutex<[GatehouseClient.Change]>([])

    /// Records until the client is gone.
    init(_ changes: AsyncStream<GatehouseClient.Change>) {
        Task { [weak self] in
            for await change in changes { self?.recorded.withLock { $0.append(change) } }
        }
    }

    var all: [GatehouseClient.Change] { recorded.withLock { $0 } }

    /// The kinds of the changes, in their order.
    var kinds: [String] {
        all.map { change in
            switch change {
            case .signedIn: "signedIn"
            case .updated: "updated"
            case .signedOut(let reason):
                switch reason {
                case .notSignedIn: "notSignedIn"
                case .signedOut: "signedOut"
                case .elsewhere: "elsewhere"
                case .ended(let refusal): "ended \(refusal.code.rawValue)"
                case .accountDeleted: "accountDeleted"
                case .identityRemoved: "identityRemoved"
                }
            case .refreshFailed(let error): "refreshFailed \(error.code.rawValue)"
            case .storageFailed(let error): "storageFailed \(error.code.rawValue)"
            case .stored: "stored"
            }
        }
    }

    /// Waits until the last change is of that kind.
    func wait(for kind: String) async throws {
        try await eventually("the client reports \(kind)") { kinds.last == kind }
    }
}

extension RedirectClient {
    /// Signs in at the page that a client has opened, and returns where the browser comes back to.
    func visit(_ flow: GatehouseClient.RedirectFlow, as evidence: VerifiedIdentity) async throws -> URL {
        let page = try #require(URLComponents(url: flow.url, resolvingAgainstBaseURL: false))
        let nothing = APIClient.Answer(status: 0, headers: [:], body: [])
        let begun = RedirectClient.Flow(authorization: nothing, url: page, cookie: nil)
        let arrival = try await arrive(begun, with: evidence)
        return try #require(arrival.url)
    }
}

extension GatehouseClient.Proof {
    /// Evidence that `ScriptedProvider` accepts.
    static func scripted(_ evidence: VerifiedIdentity) throws -> Self {
        .other(path: ["auth", "scripted"], provider: "scripted", body: ["proof": .string(try evidence.proof)])
    }
}
