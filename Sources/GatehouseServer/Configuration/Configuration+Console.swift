internal import Administration
package import HTTPAPI
package import OpenID

extension Configuration {
    /// The console, if it is configured: at the listener of `server.admin`, or at the apps' listener.
    package var console: ConsoleSettings? {
        guard let admin, admin.console else { return nil }
        return ConsoleSettings(
            url: (server.admin?.publicURL ?? server.publicURL) + "/console",
            rules: ConsoleSessionRules(
                idle: admin.idle, lifetime: admin.lifetime, stepUp: admin.stepUp,
                requiredMethods: admin.requireMethods))
    }

    /// The settings of an application's OpenID provider, of which the console is a client.
    package func openID(of application: Application) -> OpenIDSettings? {
        var settings = application.openID
        guard let console, application.name == admin?.application else { return settings }
        settings?.clients[OAuthClient.consoleID] = try? OAuthClient.console(at: console.callback)
        return settings
    }
}
