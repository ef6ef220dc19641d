import Foundation
import Testing

@testable import GatehouseClient

/// A storage that cannot be read for some time, like the Keychain before the device is unlocked.
struct UnreadableStorageTests {
    @Test(.timeLimit(.minutes(1))) func `the failure is reported once, however often it is read`() async throws {
        let storage = FailingStorage()
        let options = GatehouseClient.Options(storage: storage, transport: ScriptedTransport())
        let url = try #require(URL(string: "https://h.example"))
        try await GatehouseClient(url: url, options: options).signIn(.anonymous)
        storage.isLocked = true
        let restarted = GatehouseClient(url: url, options: options)
        var changes = restarted.changes.makeAsyncIterator()
        guard case .storageFailed? = await changes.next() else {
            Issue.record("the failure is not reported")
            return
        }
        for _ in 1...3 {
            let failure = await #expect(throws: GatehouseError.self) { try await restarted.session }
            #expect(failure?.code == .storageError)
        }
        storage.isLocked = false
        let session = try await restarted.session
        #expect(session != nil)
        guard case .signedIn? = await changes.next() else {
            Issue.record("the failure is reported again")
            return
        }
    }
}
