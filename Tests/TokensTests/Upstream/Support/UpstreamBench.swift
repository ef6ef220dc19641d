import Foundation
import ProviderKit

@testable import Tokens

/// A verifier with a network and a clock that a test controls.
struct UpstreamBench {
    let http = ScriptedHTTP()
    let time = ManualTime()
    let verifier: UpstreamTokenVerifier

    init(publishing json: String? = nil) {
        verifier = UpstreamTokenVerifier(http: http, now: time.now)
        if let json { http.answer(json: json) }
    }

    func verify(_ token: String, by rules: TokenRules = ForeignToken.rules()) async -> Result<
        TokenClaims, ProviderError
    > {
        do {
            return .success(try await verifier.verify(token, by: rules))
        } catch {
            return .failure(error as? ProviderError ?? .malformed(field: "\(error)", reason: "no such error expected"))
        }
    }

    var fetches: Int { http.requests.count }
}

extension Result<TokenClaims, ProviderError> {
    var isGood: Bool { if case .success = self { true } else { false } }
    var isRefused: Bool { self == .failure(.refused) }
    var isUnavailable: Bool { self == .failure(.unavailable) }
}

/// A gate at which tasks wait until it is opened.
actor Gate {
    private var isOpen = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    func pass() async {
        guard !isOpen else { return }
        await withCheckedContinuation { waiters.append($0) }
    }

    func open() {
        isOpen = true
        for waiter in waiters { waiter.resume() }
        waiters = []
    }
}
