internal import ProviderKit

extension DialectCall {
    /// The calls of the time tracking apps, with the redirect URI of the app.
    static func timeTracker(redirectURI: String) throws -> [DialectCall] {
        let browser = ["Accept": "text/html"]
        let expired = failure("OIDC session not found or expired. Initiate login again.")
        var login = get(
            "/auth/login?" + ["redirect_uri": redirectURI].queryText, headers: browser, 302, .any)
        login.redirects = true
        return try [
            login,
            get("/auth/login", headers: browser, 400, .page),
            post("/auth/token", [:], 400, failure("Missing required parameters: code, state")),
            post(
                "/auth/token", ["code": "unknown", "state": "unknown", "redirect_uri": .string(redirectURI)], 400,
                expired),
            get("/auth/me", headers: ["Authorization": "Bearer expired"], 401, failure("Unauthorized")),
            post(
                "/auth/logout", [:], headers: ["Authorization": "Bearer expired"], 200,
                .json(["message": "Logged out successfully"])),
        ]
    }

    private static func failure(_ message: String) -> Content { .json(["error": .string(message)]) }
}

extension [String: String] {
    /// The names and values as a query.
    fileprivate var queryText: String { FetchRequest.post("", form: self).encodedForm ?? "" }
}
