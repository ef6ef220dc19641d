internal import ProviderKit

extension DialectCall {
    /// The calls of Immich's apps, with the redirect URI of the app.
    static func immich(redirectURI: String) throws -> [DialectCall] {
        try serverCalls + signInCalls(redirectURI: redirectURI) + accountCalls
    }

    /// The calls of an app before a sign-in; a proxy may send these to the back end, which has its own rules
    /// for caches.
    private static var serverCalls: [DialectCall] {
        let calls = [
            get("/.well-known/immich", 200, .json(["api": ["endpoint": "/api"]])),
            get("/api/server/ping", 200, .json(["res": "pong"])),
            get("/api/server/version", 200, .members(["major": .number, "minor": .number, "patch": .number])),
            get("/api/server/config", 200, .members(config)),
            get(featuresPath, 200, .members(features)),
        ]
        return calls.map { call in
            var call = call
            call.isPrivate = false
            return call
        }
    }

    /// The path at which an app reads what the server can do.
    static let featuresPath = "/api/server/features"

    /// Sign-ins that fail, with a password and at the pages of a provider.
    private static func signInCalls(redirectURI: String) throws -> [DialectCall] {
        // The challenge of the verifier in RFC 7636, appendix B.
        let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        var login = try post(
            "/api/auth/login", ["email": "nobody@example.com", "password": "not a password of anybody"],
            headers: ["deviceModel": "Pixel 7", "deviceType": "Android"], 401, .refusal("Incorrect email or password"))
        login.feature = "passwordLogin"
        let query = "code_challenge=\(challenge)&code_challenge_method=S256&state=check"
        var begins = try [
            get("/api/oauth/authorize?\(query)", 200, .members(["url": .text, "state": .text])),
            post(
                "/api/oauth/authorize", ["redirectUri": .string(redirectURI), "codeChallenge": .string(challenge)], 201,
                .members(["url": .text])),
        ]
        for index in begins.indices { begins[index].feature = "oauth" }
        let callback = try post(
            "/api/oauth/callback",
            [
                "url": .string(redirectURI + "?code=unknown&state=unknown"),
                "codeVerifier": "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
            ], 400, .members(["message": .text, "statusCode": .number]))
        return [login] + begins + [callback]
    }

    /// The calls of an app whose session has ended, which are well-formed, so that only the token is refused.
    private static var accountCalls: [DialectCall] {
        get throws {
            let refused = Content.refusal("Invalid user token")
            let token = ["x-immich-user-token": "expired"]
            let pin: JSONValue = ["pinCode": "1234"]
            let calls: [(method: String, path: String, body: JSONValue)] = [
                ("PUT", "/api/users/me", ["name": "Ada"]),
                ("POST", "/api/auth/logout", [:]),
                ("PUT", "/api/auth/change-password", ["password": "a password that is new"]),
                ("POST", "/api/auth/change-password", ["password": "a password that is new"]),
                ("PUT", "/api/auth/pin-code", pin),
                ("POST", "/api/auth/pin-code", pin),
                ("DELETE", "/api/auth/pin-code", pin),
                ("POST", "/api/auth/pin-code/verify", pin),
                ("POST", "/api/auth/session/unlock", pin),
                ("POST", "/api/auth/session/lock", [:]),
            ]
            return try [
                get("/api/users/me", headers: token, 401, refused),
                get("/api/auth/status", headers: token, 401, refused),
                post("/api/auth/validateToken", [:], headers: ["Authorization": "Bearer expired"], 401, refused),
            ] + calls.map { try send($0.method, $0.path, $0.body, headers: token, 401, refused) }
        }
    }

    private static let config: [String: MemberType] = [
        "loginPageMessage": .text, "oauthButtonText": .text, "externalDomain": .text, "isInitialized": .flag,
        "isOnboarded": .flag, "trashDays": .number, "userDeleteDelay": .number, "publicUsers": .flag,
        "mapDarkStyleUrl": .text, "mapLightStyleUrl": .text, "maintenanceMode": .flag,
    ]

    private static let features = Dictionary(
        uniqueKeysWithValues: [
            "oauth", "oauthAutoLaunch", "passwordLogin", "configFile", "email", "trash", "search", "smartSearch",
            "facialRecognition", "duplicateDetection", "importFaces", "map", "reverseGeocoding", "sidecar", "ocr",
        ].map { ($0, MemberType.flag) })
}
