internal import ProviderKit

extension DialectCall {
    /// The calls of Immich's apps, with the redirect URI of the app.
    static func immich(redirectURI: String) throws -> [DialectCall] {
        let error: [String: MemberType] = ["message": .text, "statusCode": .number]
        // The challenge of the verifier in RFC 7636, appendix B.
        let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        return try [
            get("/.well-known/immich", 200, .json(["api": ["endpoint": "/api"]])),
            get("/api/server/ping", 200, .json(["res": "pong"])),
            get("/api/server/version", 200, .members(["major": .number, "minor": .number, "patch": .number])),
            get("/api/server/config", 200, .members(config)),
            get("/api/server/features", 200, .members(features)),
            post(
                "/api/oauth/authorize", ["redirectUri": .string(redirectURI), "codeChallenge": .string(challenge)], 201,
                .members(["url": .text])),
            post(
                "/api/oauth/callback",
                [
                    "url": .string(redirectURI + "?code=unknown&state=unknown"),
                    "codeVerifier": "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
                ], 400, .members(error)),
            get("/api/users/me", headers: ["x-immich-user-token": "expired"], 401, .members(error)),
            post("/api/auth/validateToken", [:], headers: ["Authorization": "Bearer expired"], 401, .members(error)),
        ]
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
