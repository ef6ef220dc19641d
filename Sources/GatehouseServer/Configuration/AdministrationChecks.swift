internal import Accounts
internal import HTTPAPI
internal import OpenID
internal import ProviderKit

/// Checks of the section `admin` that need other sections.
extension SettingsReader {
    /// Reports an unknown `admin.application`, and `server.admin` without the section `admin`.
    func checkAdministration(in root: ConfigurationNode, isOf names: [String]) {
        if let server = root["server"], server["admin"] != nil, root["admin"] == nil {
            report("needs the section `admin`", at: server.place(of: "admin"))
        }
        guard let node = root["admin"] else { return }
        if let name = node["application"]?.text, !names.contains(name) {
            report("no such application is configured", at: node.place(of: "application"))
        }
        if names.contains("all") {
            report("`all` stands for all applications in grants; name this one differently", at: root.place)
        }
        checkConsole(node, in: root, isOf: names)
        if node["allow"]?.items.isEmpty != false, root["server"]?["admin"] == nil {
            warn("admits administrators from anywhere; set `allow`, or `server.admin`", at: node.place)
        }
        if node["requireMethods"]?.items.isEmpty != false {
            warn("lets administrators sign in by any method; set `requireMethods`", at: node.place)
        }
        for method in node["requireMethods"]?.items ?? [] where !Self.methods.contains(method.text ?? "") {
            warn("no sign-in has this method; there are \(Self.methods.joined(separator: ", "))", at: method.place)
        }
    }

    /// The methods of sessions as `requireMethods` compares them (`ConsoleSession`).
    private static let methods = ["pwd", "otp", "sms", "qr", "fed"]

    /// Reports a console whose administrators could not sign in, and applications whose pages would be hidden by its own.
    private func checkConsole(_ node: ConfigurationNode, in root: ConfigurationNode, isOf names: [String]) {
        guard node["console"]?.text == "true" else { return }
        for name in names where ConsoleSettings.reservedNames.containsBytes(of: name) {
            report(
                "`\(name)` is a path of the console; name this application differently",
                at: root["applications"]?.place(of: name) ?? root.place)
        }
        let home = node["application"]?.text.flatMap { root["applications"]?[$0] }
        if let home, home["openid"] == nil {
            report(
                "needs `openid` in this application: administrators sign in to the console there",
                at: node.place(of: "application"))
        }
        if let client = home?["openid"]?["clients"]?[OAuthClient.consoleID] {
            report("is the name of the console", at: client.place)
        }
        if let own = root["server"]?["admin"], own["publicURL"] == nil {
            report("needs `publicURL`, where administrators reach the console", at: own.place)
        }
        let urls = [root["server"]?["admin"]?["publicURL"], root["server"]?["publicURL"]]
        guard let url = urls.lazy.compactMap({ $0?.text }).first else { return }
        if (try? OAuthClient.console(at: url)) == nil {
            report("needs a server that administrators reach by https", at: node.place(of: "console"))
        } else if url.count(where: { $0 == "/" }) > 2 {
            report("needs a server whose `publicURL` has no path", at: node.place(of: "console"))
        }
    }

    /// Warns if everybody can open an account in the application that has the administrators' accounts.
    func warnOfSignUp(in root: ConfigurationNode, among applications: [Configuration.Application]) {
        guard let node = root["admin"], let name = node["application"]?.text else { return }
        let open = applications.first { $0.name == name }?.providers.all.filter { $0.declaration.mode == .open } ?? []
        guard !open.isEmpty else { return }
        let names = open.map(\.name).sorted().joined(separator: ", ")
        warn(
            "everybody can open an account in \(name), by \(names); set their `mode` to `existing`",
            at: node.place(of: "application"))
    }
}
