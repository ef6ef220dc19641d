/// A value that no log, error or dump shows.
package struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// To be handed to what needs it, and to nothing else.
    package let value: String

    package init(_ value: String) {
        self.value = value
    }

    package var description: String { "[secret]" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension Expectation<Secret> {
    static var secret: Self {
        .secret("a secret: text, or file:PATH") { $0.isEmpty ? nil : Secret($0) }
    }

    /// A secret that has to satisfy `isValid`.
    static func secret(_ description: String, where isValid: @escaping (String) -> Bool) -> Self {
        .secret(description) { isValid($0) ? Secret($0) : nil }
    }
}
