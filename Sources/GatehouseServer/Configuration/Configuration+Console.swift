internal import Administration
package import HTTPAPI
package import OpenID

extension Configuration {
    /// The console, where there is one.
    package var console: ConsoleSettings? {
        guard let admin, admin.console else { return nil }
        return ConsoleSettings(
            url: Self.consoleURL(server: server.publicURL, admin: server.admin?.publicURL),
            rules: ConsoleSessionRules(
                idle: admin.idle, lifetime: admin.lifetime, stepUp: admin.stepUp,
                requiredMethods: admin.requireMethods))
    }

    /// Where administrators reach the console: at the listener of `server.admin`, if that has a URL.
    static func consoleURL(server: String, admin: String?) -> String { (admin ?? server) + "/console" }

    /// The settings of an application's OpenID provider, of which the console is a client.
    package func openID(of application: Application) -> OpenIDSettings? {
        var settings = application.openID
        guard let console, application.name == admin?.application else { return settings }
        settings?.clients[OAuthClient.consoleID] = try? OAuthClient.console(at: console.callback)
        return settings
    }
}
