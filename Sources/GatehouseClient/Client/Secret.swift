extension GatehouseClient {
    /// A token or ticket; its descriptions and its mirror do not show the value, so that it does not get into logs.
    public struct Secret: Sendable, Hashable, Codable {
        /// The value to send.
        public let value: String

        /// Creates a secret from its value.
        public init(_ value: String) { self.value = value }

        /// Decodes the value from a string.
        /// - Throws: An error of the decoder.
        public init(from decoder: any Decoder) throws {
            value = try decoder.singleValueContainer().decode(String.self)
        }

        /// Encodes the value as a string.
        /// - Throws: An error of the encoder.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }
}

extension GatehouseClient.Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The constant `<secret>`.
    public var description: String { "<secret>" }
    /// The constant `<secret>`.
    public var debugDescription: String { "<secret>" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
