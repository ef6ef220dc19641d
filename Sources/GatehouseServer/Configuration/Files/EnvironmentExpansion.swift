/// Replaces `${NAME}` in a value by the environment variable `NAME`, and `$${` by `${`.
///
/// Variables inside the replacement are not expanded.
struct EnvironmentExpansion {
    enum Failure: Error, Equatable {
        case unset(String)
        case malformed

        var reason: String {
            switch self {
            case .unset(let name): "the environment variable \(name) is not set"
            case .malformed: "expected ${NAME} with a variable's name; write $${ for a plain ${"
            }
        }
    }

    let environment: [String: String]

    func expand(_ text: String) throws(Failure) -> String {
        guard text.contains("${") else { return text }
        var result = ""
        var rest = text[...]
        while let dollar = rest.firstRange(of: "${") {
            let before = rest[..<dollar.lowerBound]
            rest = rest[dollar.upperBound...]
            if before.last == "$" {
                result += before.dropLast() + "${"
                continue
            }
            guard let end = rest.firstIndex(of: "}"), Self.isName(rest[..<end]) else { throw .malformed }
            let name = String(rest[..<end])
            guard let value = environment[name] else { throw .unset(name) }
            result += before + value
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }

    private static func isName(_ text: Substring) -> Bool {
        text.first?.isNumber == false && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    }
}
