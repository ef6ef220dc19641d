/// Something that is wrong between the server and the service behind a provider, by its stable id.
///
/// Providers note what they find while people sign in (`FindingNoting`). Checks on behalf of an administrator report
/// the same findings (`DiagnosableProvider`).
public enum ProviderFinding: String, Error, Sendable, Hashable, CaseIterable, Codable {
    /// The service does not accept the client id or the secret.
    case clientRefused = "client.refused"
    /// The service does not know the callback URL.
    case redirectRefused = "redirect.refused"
    /// Of the people who were sent to the service lately, none came back.
    case redirectNeverBack = "redirect.never-back"
    /// This server's clock is ahead of the service's.
    case clockAhead = "clock.ahead"
    /// This server's clock is behind the service's.
    case clockBehind = "clock.behind"
    /// A document or a token names another issuer.
    case issuerMismatch = "issuer.mismatch"
    /// A token is for another client.
    case audienceMismatch = "audience.mismatch"
    /// The service publishes no key that fits its tokens.
    case keysUnusable = "keys.unusable"
    /// The service does not grant a scope that is needed.
    case scopeMissing = "scope.missing"
    /// A token has another nonce than the request for it.
    case nonceMismatch = "nonce.mismatch"
    /// The signature of a token, or a hash in it, is wrong.
    case signatureInvalid = "signature.invalid"

    /// A URL of the service is not one that the server calls.
    case upstreamURL = "upstream.url"
    /// A URL of the service is plain HTTP.
    case upstreamInsecure = "upstream.insecure"
    /// The host name does not resolve.
    case upstreamUnresolved = "upstream.unresolved"
    /// The host name leads to an address that is not public.
    case upstreamPrivate = "upstream.private"
    /// The service accepts no connection.
    case upstreamUnreachable = "upstream.unreachable"
    /// There is no TLS that can be trusted.
    case upstreamUntrusted = "upstream.untrusted"
    /// The service does not respond in time.
    case upstreamTimeout = "upstream.timeout"
    /// The connection or the protocol failed.
    case upstreamInterrupted = "upstream.interrupted"
    /// A response is larger than the server's limit.
    case upstreamTooLarge = "upstream.too-large"
    /// The service redirects the server elsewhere.
    case upstreamRedirected = "upstream.redirected"
    /// The service responds with an error of its own.
    case upstreamError = "upstream.error"
    /// A response is not what the protocol requires.
    case upstreamUnusable = "upstream.unusable"
    /// Too many requests to the service are under way.
    case upstreamCrowded = "upstream.crowded"
    /// The server makes no requests for a while, because several have failed.
    case upstreamPaused = "upstream.paused"
}

extension ProviderFinding {
    /// What is wrong, for an administrator.
    public var sentence: String { texts.sentence }
    /// What an administrator can do.
    public var remedy: String { texts.remedy }

    private var texts: (sentence: String, remedy: String) {
        switch self {
        case .clientRefused:
            (
                "The service does not accept the client id or the secret.",
                "Compare `clientID` and the secret with the registration at the service; the secret may have expired."
            )
        case .redirectRefused:
            (
                "The service does not know the callback URL.",
                "Add the callback URL of this provider to the registration at the service, exactly as it is shown."
            )
        case .redirectNeverBack:
            (
                "People are sent to the service, but none of them comes back.",
                "Sign in once and look at the service's page: often it does not know the callback URL or the client."
            )
        case .clockAhead:
            ("This server's clock is ahead of the service's.", "Synchronize this machine's clock, for example by NTP.")
        case .clockBehind:
            ("This server's clock is behind the service's.", "Synchronize this machine's clock, for example by NTP.")
        case .issuerMismatch:
            (
                "The service names another issuer than the settings.",
                "Set the issuer to exactly what the discovery document says, with or without a slash at its end."
            )
        case .audienceMismatch:
            (
                "A token was issued for another client.",
                "Compare `clientID` with the registration, and add the client ids of apps to `audiences`."
            )
        case .keysUnusable:
            (
                "The service publishes no key that fits its tokens.",
                "Let the service sign by an asymmetric algorithm, such as RS256 or ES256, and publish the key."
            )
        case .scopeMissing:
            (
                "The service does not grant a scope that is needed.",
                "Allow the scopes of the settings for this client at the service, or change `scopes`."
            )
        case .nonceMismatch:
            (
                "A token has another nonce than the request for it.",
                "Check whether something between the server and the service caches responses; see the setting `nonce`."
            )
        case .signatureInvalid:
            (
                "The signature of a token, or a hash in it, is wrong.",
                "Check that the published keys are those of the issuer, and that nothing in between changes tokens."
            )
        default: upstreamTexts
        }
    }

    private var upstreamTexts: (sentence: String, remedy: String) {
        switch self {
        case .upstreamURL:
            ("A URL of the service can't be called.", "Use an absolute URL without user, password and fragment.")
        case .upstreamInsecure:
            ("A URL of the service is plain HTTP.", "Use an `https` URL.")
        case .upstreamUnresolved:
            ("The host name of the service does not resolve.", "Check the name, and this machine's name servers.")
        case .upstreamPrivate:
            (
                "The host name of the service leads to an address that is not public.",
                "Use a public name; `network.allowPrivateHosts` allows private ones for all providers."
            )
        case .upstreamUnreachable:
            ("The service accepts no connection.", "Check the port, and the firewall between this server and it.")
        case .upstreamUntrusted:
            (
                "The service has no TLS that can be trusted.",
                "Check that its certificate is valid for the name, complete and of a known authority, with TLS 1.2."
            )
        case .upstreamTimeout:
            ("The service does not respond in time.", "Look at the state of the service; the server tries again.")
        case .upstreamInterrupted:
            ("The connection to the service breaks off.", "Look at the state of the service and of proxies before it.")
        case .upstreamTooLarge:
            ("A response of the service is too large.", "Check that the URL is that of the service.")
        case .upstreamRedirected:
            ("The service redirects to another address.", "Set the URL to the one that it redirects to.")
        case .upstreamError:
            ("The service responds with an error of its own.", "Look at the state of the service.")
        case .upstreamCrowded:
            ("Too many requests to the service are under way.", "Look at how fast the service responds.")
        case .upstreamPaused:
            (
                "Requests to the service have failed, so the server pauses them.",
                "Look at the other findings; the server tries again within half a minute."
            )
        default: ("A response of the service can't be used.", "Check that the URLs are those of the service.")
        }
    }
}
