import Foundation
import ProviderKit
import Testing

/// `deploy/install-packages` with stubs in place of the programs that it calls.
@Suite struct InstallPackagesTests {
    private static let script = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../deploy/install-packages").standardizedFileURL.path

    /// Stubs that only record how they were called.
    private func run(
        _ packages: String..., installed: [String], user: Int, sudo: Bool = false
    ) async throws -> (outcome: GatehouseProcess.Outcome, calls: [String]) {
        try await ProcessDirectory.with { directory in
            var programs = [
                "dpkg-query": """
                for last; do :; done
                case " \(installed.joined(separator: " ")) " in *" $last "*) printf installed ;; *) exit 1 ;; esac
                """,
                "id": "echo \(user)",
                "apt-get": "echo \"${DEBIAN_FRONTEND:-}: apt-get $*\" >> calls",
                "tee": "cat > tee; echo \"tee $*\" >> calls",
                "mkdir": "echo \"mkdir $*\" >> calls",
                "ln": "echo \"ln $*\" >> calls",
            ]
            if sudo {
                // Like the real `sudo`, the stub passes no environment variables on.
                programs["sudo"] = """
                    echo "sudo" >> calls
                    [ "$1" = -n ] && shift
                    exec env -i PATH="$PATH" "$@"
                    """
            }
            for (name, words) in programs {
                try directory.write("#!/bin/sh\n\(words)\n", to: "\(name).stub")
            }
            // A separate process copies the stubs, because a file cannot be executed while a process has it open for
            // writing.
            let copy = "for stub in *.stub; do cp $stub ${stub%.stub}; chmod 755 ${stub%.stub}; done"
            _ = try await GatehouseProcess.run(["-c", copy], program: "/bin/sh", in: directory)
            for name in ["sh", "cat", "env", "true"] {
                try FileManager.default.createSymbolicLink(
                    atPath: directory.path(name), withDestinationPath: "/bin/\(name)")
            }
            let outcome = try await GatehouseProcess.run(
                [Self.script] + packages, program: "/bin/sh", in: directory,
                environment: ["PATH": directory.url.path, "DEBIAN_FRONTEND": ""])
            let calls = (try? String(contentsOfFile: directory.path("calls"), encoding: .utf8)) ?? ""
            return (outcome, calls.split(separator: "\n").map(String.init))
        }
    }

    @Test func nothingIsDoneWhereNothingIsMissing() async throws {
        let (outcome, calls) = try await run("libpq-dev", "make", installed: ["make", "libpq-dev"], user: 0)
        #expect(outcome.status == 0)
        #expect(outcome.output == "")
        #expect(outcome.errorLines == [])
        #expect(calls == [])
    }

    @Test func rootInstallsWhatIsMissing() async throws {
        let (outcome, calls) = try await run(
            "libpq-dev", "libargon2-dev", "pkg-config", installed: ["libpq-dev"], user: 0)
        #expect(outcome.status == 0, "\(outcome.errorLines)")
        #expect(outcome.output == "Installing: libargon2-dev pkg-config\n")
        #expect(
            calls.filter { $0.contains("apt-get") } == [
                ": apt-get update -q",
                "noninteractive: apt-get install -y --no-install-recommends libargon2-dev pkg-config",
            ])
    }

    @Test func serversThatOnlyTestsUseAreNotStarted() async throws {
        let (outcome, calls) = try await run(
            "prometheus", "etcd-server", "haproxy", "nginx-light", "caddy", installed: ["haproxy"], user: 0)
        #expect(outcome.status == 0, "\(outcome.errorLines)")
        #expect(
            calls.filter { $0.hasPrefix("ln ") }
                == ["etcd", "prometheus", "nginx", "caddy"].map {
                    "ln -sf /dev/null /etc/systemd/system/\($0).service"
                })
    }

    @Test func sudoInstallsForOthersWithoutAskingQuestions() async throws {
        let (outcome, calls) = try await run("libpq-dev", installed: [], user: 1000, sudo: true)
        #expect(outcome.status == 0, "\(outcome.errorLines)")
        let install = "apt-get install -y --no-install-recommends libpq-dev"
        #expect(calls.filter { $0.contains("apt-get") }.map { $0.hasSuffix(install) } == [false, true])
        #expect(calls.contains("noninteractive: \(install)"))
    }

    @Test func othersAreToldTheOneLine() async throws {
        let (outcome, calls) = try await run("libpq-dev", "pkg-config", installed: ["pkg-config"], user: 1000)
        #expect(outcome.status == 1)
        #expect(outcome.output == "")
        #expect(
            outcome.errorLines == [
                "Missing packages; as root, run: apt-get update && apt-get install -y --no-install-recommends libpq-dev"
            ])
        #expect(calls == [])
    }
}
