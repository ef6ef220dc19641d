import Accounts
import Delivery
import Foundation
import GatehouseTesting

/// A transport with scripted results that records its mails.
final class ScriptedTransport: MessageTransport {
    let attempts = Observed<[Mail]>([])
    private let script: @Sendable (Mail) async throws -> Void

    init(_ script: @escaping @Sendable (Mail) async throws -> Void = { _ in }) {
        self.script = script
    }

    func send(_ mail: Mail) async throws {
        attempts.update { $0.append(mail) }
        try await script(mail)
    }

    /// Suspends until the task is cancelled.
    static func hang() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        for await _ in stream {}
        continuation.finish()
        throw CancellationError()
    }
}

/// A text transport with scripted results that records its messages.
final class ScriptedTextTransport: TextTransport {
    let attempts = Observed<[TextMessage]>([])
    private let script: @Sendable (TextMessage) async throws -> Void

    init(_ script: @escaping @Sendable (TextMessage) async throws -> Void = { _ in }) {
        self.script = script
    }

    func send(_ message: TextMessage) async throws {
        attempts.update { $0.append(message) }
        try await script(message)
    }
}
