import GatehouseTesting
import Glibc
import Postgres
import Testing

@testable import GatehouseServer

/// The primary is lost under load, and its synchronous standby is promoted.
@Suite(.serialized, .longMode) struct FailoverTests {
    enum Loss: CaseIterable {
        case killed, hung
    }

    @Test(arguments: Loss.allCases)
    func `after a promotion nothing acknowledged is lost, and a former primary changes nothing`(
        loss: Loss
    ) async throws {
        try await StandbyPair.with { pair in
            try await FaultServers.with(databases: pair.urls) { servers in
                let load = servers.load()
                try await load.run {
                    switch loss {
                    case .killed: await pair.primary.crash()
                    case .hung: pair.hangPrimary()
                    }
                    try await eventually("calls are refused") { load.journal.entries.refused > 8 }
                    pair.fencePrimary()
                    try pair.promoteStandby()
                    try await load.awaitProgress()
                    switch loss {
                    case .killed: try await pair.primary.start()
                    case .hung: pair.wakePrimary()
                    }
                }
                try await servers.verify(load.journal.entries)
                // A server that starts now finds the promoted primary behind the fence.
                try await servers.second.end(by: SIGTERM)
                try await servers.second.start()
                try await servers.verify(load.journal.entries)
            }
        }
    }

    @Test func `a former primary without a fence acknowledges nothing to servers that use it`() async throws {
        try await StandbyPair.with { pair in
            try await FaultServers.with(databases: (pair.unfencedURL, pair.unfencedURL)) { servers in
                let load = servers.load()
                try await load.run {
                    await pair.primary.crash()
                    try pair.promoteStandby()
                    try await load.awaitProgress()
                    try await pair.primary.start()
                }
                try await servers.verify(load.journal.entries)
                // Of two hosts that accept writes, a new connection uses the first one. It still waits for its standby.
                try await servers.second.end(by: SIGTERM)
                #expect(try await servers.second.exitStatus() == 1)
                try await servers.verify(load.journal.entries, at: [servers.first])
            }
        }
    }
}
