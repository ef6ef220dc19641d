internal import Accounts
internal import ProviderKit

extension ProviderDeclaration {
    /// The change to another mode as a difference of the configuration file.
    ///
    /// It has only the keys on the way to the mode, because the lines around it may hold secrets.
    func difference(of provider: String, to mode: ProviderMode, in application: String) -> String {
        let name = file ?? "gatehouse.yaml"
        let path = [" applications:", "   \(application):", "     providers:", "       \(provider):"]
        let before = statement.map { ["-        \($0)"] } ?? []
        return
            (["--- \(name)", "+++ \(name)"] + (line.map { ["@@ line \($0) @@"] } ?? []) + path + before
            + ["+        mode: \(mode.rawValue)"]).joined(separator: "\n") + "\n"
    }
}
