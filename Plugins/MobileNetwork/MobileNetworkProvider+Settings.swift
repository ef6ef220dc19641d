public import ProviderKit

extension MobileNetworkProvider {
    /// Settings for a gateway that adds a header, for an issuer of signed assertions, or for both.
    public struct Settings: ProviderSettings {
        var gateways: [String]?
        var header, issuer, jwksURL: String?

        /// The schema; `gateways` and `header`, or `issuer` and `jwksURL`, are required.
        public static let schema = SettingsSchema([
            SettingField("gateways", .texts, help: "Addresses of the operator's gateways, as CIDR ranges."),
            SettingField("header", .text, help: "The header in which a gateway names the number."),
            SettingField("issuer", .text, help: "The issuer of signed assertions."),
            SettingField("jwksURL", .url, help: "The URL of the keys of signed assertions."),
        ])

        /// The gateways and the name of their header; empty and `nil` if headers are not used.
        func gatewayHeader() throws -> ([AddressRange], String?) {
            let ranges = try (gateways ?? []).map { text in
                guard let range = AddressRange(text) else {
                    throw SettingsError(
                        setting: "gateways", reason: "is not a list of IP addresses and ranges as in 10.1.0.0/16")
                }
                return range
            }
            guard let header else {
                guard gateways == nil else {
                    throw SettingsError(setting: "header", reason: "is missing: the gateways put the number there")
                }
                return ([], nil)
            }
            guard !ranges.isEmpty else {
                throw SettingsError(
                    setting: "gateways", reason: "is missing: the header counts only if a gateway added it")
            }
            guard !header.isEmpty, header.utf8.allSatisfy(\.isFieldNameCharacter) else {
                throw SettingsError(setting: "header", reason: "is not a header name")
            }
            return (ranges, header)
        }

        /// The rules for assertions, whose lifetime is at most five minutes; `nil` if assertions are not used.
        func assertionRules(audience: String) throws -> TokenRules? {
            switch (issuer, jwksURL) {
            case (nil, nil): return nil
            case (_, nil):
                throw SettingsError(setting: "jwksURL", reason: "is missing: it is the URL of the issuer's keys")
            case (nil, _):
                throw SettingsError(setting: "issuer", reason: "is missing: it is the issuer that the keys belong to")
            case (let issuer?, let url?):
                return TokenRules(
                    keys: .published(url: url), algorithms: Set(TokenRules.Algorithm.allCases), issuers: [issuer],
                    audiences: [audience], longestLifetime: .seconds(300))
            }
        }
    }
}

extension UInt8 {
    /// Whether the character is a `tchar` (RFC 9110, 5.6.2).
    fileprivate var isFieldNameCharacter: Bool { isASCIILetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains(self) }
}
