/// A value that is hidden in logs, errors and dumps.
package struct Secret: Sendable, Hashable, Decodable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    package let value: String

    package init(_ value: String) { self.value = value }
    package init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(String.self) }
    package var description: String { "[secret]" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
