import ArgumentParser

/// The names of measurements on the command line.
enum RowName: String, CaseIterable, ExpressibleByArgument {
    case signIn = "sign-in"
    case dialectSignIn = "dialect-sign-in"
    case tokenSignIn = "token-sign-in"
    case anonymous
    case link
    case unlink
    case merge
    case refresh
    case me
    case keys
    case providers
    case authorize
    case code
    case clientRefresh = "client-refresh"
    case userInfo = "userinfo"
    case introspection
    case overload
    case memory
    case waiting
    case start
    case revocation
    case erasure

    func rows(on stage: Stage) throws -> [Row] {
        switch self {
        case .signIn: [try .signIn(on: stage)]
        case .dialectSignIn: [try .dialectSignIn(on: stage)]
        case .tokenSignIn: [try .tokenSignIn(on: stage)]
        case .anonymous: [try .anonymous(on: stage)]
        case .link:
            [
                try .link("an account each", on: stage, accounts: Row.calls),
                try .link("64 accounts", on: stage, accounts: 64),
                try .link("accounts with 40 identities", on: stage, accounts: Row.calls / 8, identities: 40),
            ]
        case .unlink: [try .unlink(on: stage)]
        case .merge: [try .merge(on: stage)]
        case .refresh:
            [
                try .refresh(on: stage, application: stage.es256, aim: 0.8, limit: .es256Signing(seconds: 1)),
                try .refresh(on: stage, application: stage.rs256, aim: nil, limit: .rs256Signing(seconds: 2)),
            ]
        case .me: [try .me(on: stage)]
        case .keys: [try .open("/.well-known/jwks.json", on: stage)]
        case .providers: [try .open("/api/v1/auth/providers", on: stage)]
        case .authorize: [try .authorize(on: stage)]
        case .code: [try .code(on: stage)]
        case .clientRefresh: [try .clientRefresh(on: stage)]
        case .userInfo: [try .userInfo(on: stage)]
        case .introspection: [try .introspection(on: stage)]
        case .overload, .memory, .waiting, .start, .revocation, .erasure: []
        }
    }

    func trials(on stage: Stage, quick: Bool, soak: Duration, pages: Int) -> [Trial] {
        switch self {
        case .overload: [.overload(on: stage, rounds: quick ? 1 : 3)]
        case .memory: [.memory(on: stage, soak: soak)]
        case .waiting: [.waiting(on: stage, pages: pages, rounds: quick ? 1 : 3)]
        case .start: [.start(on: stage)]
        case .revocation: [.revocation(on: stage)]
        case .erasure: [.erasure(on: stage, people: quick ? 1000 : 10_000)]
        case .signIn, .dialectSignIn, .tokenSignIn, .anonymous, .link, .unlink, .merge, .refresh, .me, .keys,
            .providers, .authorize, .code, .clientRefresh, .userInfo, .introspection:
            []
        }
    }
}
