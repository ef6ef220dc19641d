package import ProviderKit

/// Shortens values about people, so that an administrator recognises a value that they know, and learns no other.
///
/// What is left out is always the same three dots, so that they do not tell its length.
package enum Mask {
    package static let dots = "•••"

    /// `ada@example.com` becomes `a•••@e•••.com`.
    package static func email(_ address: String) -> String {
        guard let sign = address.lastIndex(of: "@"), sign > address.startIndex else { return dots }
        let domain = address[address.index(after: sign)...]
        let labels = domain.split(separator: ".")
        guard labels.count > 1, let last = labels.last else { return first(of: address) + dots + "@" + dots }
        return first(of: address) + dots + "@" + first(of: domain) + dots + "." + last
    }

    /// `+33612345678` becomes `+33•••78`.
    package static func phone(_ number: String) -> String {
        PhoneNumber(number).map { $0.countryCode + dots + $0.value.suffix(2) } ?? dots
    }

    package static func address(_ address: Address) -> String {
        switch address {
        case .email(let address): email(address.value)
        case .phone(let number): phone(number.value)
        }
    }

    /// `Ada Lovelace` becomes `A•••`.
    package static func name(_ name: String) -> String { first(of: name) + dots }

    /// `104857600123` becomes `1048•••`.
    ///
    /// Fewer characters are kept of a shorter id, and of an address with at most four before the `@`, because four would
    /// be all that there is to know.
    package static func providerUid(_ id: String) -> String {
        let name = id.prefix { $0 != "@" }
        let isAddress = name.endIndex < id.endIndex
        let kept = name.count > 4 ? 4 : isAddress ? 1 : name.count / 2
        return id.prefix(kept) + dots
    }

    /// `203.0.113.7` becomes `203.0.0.0/16`, and an IPv6 address its /32.
    package static func clientAddress(_ address: String) -> String {
        IPAddress(address)?.network(v4: 16, v6: 32) ?? dots
    }

    /// Keeps the names of the members.
    package static func metadata(_ metadata: JSONValue) -> JSONValue {
        .object((metadata.object ?? [:]).mapValues { _ in .string(dots) })
    }

    /// The first character, without the marks that a client may have combined with it in any number.
    private static func first(of text: some StringProtocol) -> String {
        text.unicodeScalars.first.map { String(Character($0)) } ?? ""
    }
}
