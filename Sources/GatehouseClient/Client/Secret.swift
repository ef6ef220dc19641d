extension GatehouseClient {
    /// A token or ticket that no text shows: its descriptions and its mirror are empty of it.
    public struct Secret: Sendable, Hashable, Codable {
        /// The text to send.
        public let value: String

        /// Wraps a text.
        public init(_ value: String) { self.value = value }

        /// Decodes a text.
        /// - Throws: An error of the decoder.
        public init(from decoder: any Decoder) throws {
            value = try decoder.singleValueContainer().decode(String.self)
        }

        /// Encodes the text.
        /// - Throws: An error of the encoder.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }
}

extension GatehouseClient.Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Shows that there is a secret, and nothing of it.
    public var description: String { "<secret>" }
    /// Shows that there is a secret, and nothing of it.
    public var debugDescription: String { "<secret>" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
