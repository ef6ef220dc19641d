/// An address at which a message reaches a person.
public enum Address: Sendable, Hashable {
    /// An e-mail address.
    case email(EmailAddress)
    /// A phone number.
    case phone(PhoneNumber)

    /// The kinds of address.
    public enum Kind: String, Sendable, Hashable, CaseIterable { case email, phone }

    /// The kind of the address.
    public var kind: Kind {
        switch self {
        case .email: .email
        case .phone: .phone
        }
    }

    /// The normalised text.
    public var value: String {
        switch self {
        case .email(let address): address.value
        case .phone(let number): number.value
        }
    }

    /// The e-mail address, or `nil` for another kind.
    public var email: EmailAddress? { if case .email(let address) = self { address } else { nil } }
    /// The phone number, or `nil` for another kind.
    public var phone: PhoneNumber? { if case .phone(let number) = self { number } else { nil } }
}

extension Address: Codable {
    private enum CodingKeys: String, CodingKey { case email, phone }

    /// Decodes `{"email": …}` or `{"phone": …}`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let email = try container.decodeIfPresent(String.self, forKey: .email).flatMap { EmailAddress($0) }
        let phone = try container.decodeIfPresent(String.self, forKey: .phone).flatMap { PhoneNumber($0) }
        guard let address = email.map({ Self.email($0) }) ?? phone.map({ Self.phone($0) }) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "is not an address"))
        }
        self = address
    }

    /// Encodes the normalised text under its kind.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(value, forKey: kind == .email ? .email : .phone)
    }
}
