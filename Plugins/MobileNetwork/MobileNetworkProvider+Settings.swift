public import ProviderKit

extension MobileNetworkProvider {
    /// Whose word is taken: a gateway's header or a signed assertion.
    public struct Settings: ProviderSettings {
        /// Addresses that the header is taken from.
        public var gateways: [String]?
        /// The header that holds the number.
        public var header: String?
        /// `iss` of assertions.
        public var issuer: String?
        /// Where the keys of assertions are.
        public var jwksURL: String?

        /// One of the two ways is needed.
        public static let schema = SettingsSchema([
            SettingField("gateways", .texts, help: "Addresses of the operator's gateways, as CIDR ranges."),
            SettingField("header", .text, help: "The header in which a gateway names the number."),
            SettingField("issuer", .text, help: "The issuer of signed assertions."),
            SettingField("jwksURL", .url, help: "Where the keys of signed assertions are."),
        ])

        /// No gateways and no header where that way is not used.
        func gatewayHeader() throws -> ([AddressRange], String?) {
            let ranges = try (gateways ?? []).map { text in
                guard let range = AddressRange(text) else {
                    throw SettingsError(
                        setting: "gateways", reason: "takes IP addresses and ranges as in 10.1.0.0/16")
                }
                return range
            }
            guard let header else {
                guard gateways == nil else {
                    throw SettingsError(setting: "header", reason: "is missing: the gateways write the number there")
                }
                return ([], nil)
            }
            guard !ranges.isEmpty else {
                throw SettingsError(
                    setting: "gateways", reason: "is missing: the header proves nothing unless a gateway wrote it")
            }
            guard !header.isEmpty, header.utf8.allSatisfy(\.isFieldNameCharacter) else {
                throw SettingsError(setting: "header", reason: "is no name of a header")
            }
            return (ranges, header)
        }

        /// The operator signs shortly before the assertion is used: it lives for five minutes at most.
        func assertionRules(audience: String) throws -> TokenRules? {
            switch (issuer, jwksURL) {
            case (nil, nil): return nil
            case (_, nil):
                throw SettingsError(setting: "jwksURL", reason: "is missing: the issuer's keys have to be somewhere")
            case (nil, _): throw SettingsError(setting: "issuer", reason: "is missing: the keys alone are nobody's")
            case (let issuer?, let url?):
                return TokenRules(
                    keys: .published(url: url), algorithms: Set(TokenRules.Algorithm.allCases), issuers: [issuer],
                    audiences: [audience], longestLifetime: .seconds(300))
            }
        }
    }
}

extension UInt8 {
    /// `tchar` of RFC 9110, 5.6.2.
    fileprivate var isFieldNameCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }
}
