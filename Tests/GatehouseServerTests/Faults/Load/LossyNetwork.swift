import Foundation
import Glibc

@testable import GatehouseServer

/// A network namespace with a database behind two TCP addresses, whose packets the kernel drops on demand.
///
/// It needs root and Debian's packages `iproute2`, `nftables` and `socat`.
struct LossyNetwork: Sendable {
    enum Loss: CaseIterable {
        /// Every packet is dropped, as behind a broken switch.
        case all
        /// A fifth of the packets is dropped in each direction.
        case some

        fileprivate var condition: String { self == .all ? "" : "numgen random mod 100 < 20" }
    }

    /// The database's URLs with the two addresses.
    let urls: (first: String, second: String)
    private let addresses: (first: String, second: String)
    private let name: String
    private let directory: ProcessDirectory

    /// Whether this process may create namespaces and drop packets in them.
    static func isPermitted() async throws -> Bool {
        try await ProcessDirectory.with { directory in
            try await run("unshare --net nft add table ip faults && command -v ip && command -v socat", in: directory)
                == 0
        }
    }

    /// Runs the body with a network before the database, whose URL names the directory of its socket.
    static func with(before url: String, _ body: (LossyNetwork) async throws -> Void) async throws {
        guard let components = URLComponents(string: url),
            let socket = components.queryItems?.first(where: { $0.name == "host" })?.value
        else { throw POSIXError(.EINVAL) }
        // Other tests may run on this machine at the same time.
        let name = "gh" + String(UInt32.random(in: .min ... .max), radix: 36)
        let prefix = "198.18.\(UInt8.random(in: .min ... .max))"
        let addresses = ("\(prefix).2", "\(prefix).3")
        func tcp(_ address: String) -> String {
            var components = components
            let host = [URLQueryItem(name: "host", value: address), URLQueryItem(name: "port", value: "5432")]
            components.queryItems =
                host + (components.queryItems ?? []).filter { $0.name != "host" && $0.name != "port" }
            return components.string ?? ""
        }
        try await ProcessDirectory.with { directory in
            let network = LossyNetwork(
                urls: (tcp(addresses.0), tcp(addresses.1)), addresses: addresses, name: name,
                directory: directory)
            let outcome: Result<Void, any Error>
            do {
                try await network.create(prefix)
                let forwarder = [
                    "netns", "exec", name, "socat", "TCP-LISTEN:5432,fork,reuseaddr,backlog=128",
                    "UNIX-CONNECT:\(socket)/.s.PGSQL.5432",
                ]
                outcome = try await GatehouseProcess.with(forwarder, program: "ip", in: directory) { _ in
                    do { return .success(try await body(network)) } catch { return .failure(error) }
                }
            } catch {
                outcome = .failure(error)
            }
            // A process for each connection is left of the forwarder.
            _ = try await network.run("ip netns pids \(name) | xargs -r kill -KILL; ip netns delete \(name)")
            try outcome.get()
        }
    }

    /// Drops packets to and from the first address, and also to and from the second one if `both`.
    func drop(_ loss: Loss, both: Bool) async throws {
        let broken = both ? "{ \(addresses.first), \(addresses.second) }" : addresses.first
        let rules = """
            table ip faults {
                chain in { type filter hook input priority 0; ip daddr \(broken) \(loss.condition) drop; }
                chain out { type filter hook output priority 0; ip saddr \(broken) \(loss.condition) drop; }
            }
            """
        try directory.write(rules, to: "rules")
        try await require("ip netns exec \(name) nft --file rules")
    }

    func restore() async throws {
        try await require("ip netns exec \(name) nft flush ruleset")
    }

    private func create(_ prefix: String) async throws {
        let (here, there) = ("\(name)a", "\(name)b")
        try await require(
            """
            set -e
            ip netns add \(name)
            ip link add \(here) type veth peer name \(there) netns \(name)
            ip address add \(prefix).1/24 dev \(here)
            ip link set \(here) up
            ip -netns \(name) address add \(addresses.first)/24 dev \(there)
            ip -netns \(name) address add \(addresses.second)/24 dev \(there)
            ip -netns \(name) link set \(there) up
            """)
    }

    private func require(_ script: String) async throws {
        guard try await run(script) == 0 else { throw POSIXError(.EPERM) }
    }

    private func run(_ script: String) async throws -> Int32 { try await Self.run(script, in: directory) }

    private static func run(_ script: String, in directory: ProcessDirectory) async throws -> Int32 {
        try await GatehouseProcess.run(["-c", script], program: "sh", in: directory).status
    }
}
