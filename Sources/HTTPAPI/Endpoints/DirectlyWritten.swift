internal import ProviderKit

/// An answer that is asked for so often that it is written without `JSONEncoder`.
///
/// The result is what its `Codable` conformance says, which the OpenAPI document is made from.
protocol DirectlyWritten: Encodable {
    func write(to object: inout JSONObjectWriter)
}
