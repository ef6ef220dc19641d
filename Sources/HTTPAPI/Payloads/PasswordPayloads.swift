internal import Accounts

/// Both fields are needed; their absence has an error code of its own.
struct LoginBody: Codable, Sendable {
    let email: String?
    let password: String?
    /// Of a phone number of the account that was idle for too long.
    let ticket: String?
}

struct RegistrationBody: Codable, Sendable {
    let email: String?
    let password: String?
    let displayName: String?
}

struct RegistrationResponse: Codable, Sendable {
    let message: String
    let email: String
}

struct MailedTokenBody: Codable, Sendable {
    let token: String
    /// The registered password; required with `providers.email.verification: linkWithPassword`.
    let password: String?
}

struct EmailBody: Codable, Sendable {
    let email: String
}

struct MessageResponse: Codable, Sendable {
    let message: String
}

struct NewPasswordBody: Codable, Sendable {
    let token: String
    let newPassword: String
}

struct PasswordChangeBody: Codable, Sendable {
    let currentPassword: String?
    let password: String
}

/// - Throws: `AccountsError.missingEmailOrPassword` where one is absent or empty.
func requireBoth(_ email: String?, _ password: String?) throws(AccountsError) -> (email: String, password: String) {
    guard let email, let password, !email.isEmpty, !password.isEmpty else { throw .missingEmailOrPassword }
    return (email, password)
}

extension LoginBody: DocumentedFields {
    static var fields: [String: JSONSchema] { ["email": .email, "password": .filledText] }
    static var requiredFields: Set<String> { ["email", "password"] }
}

extension RegistrationBody: DocumentedFields {
    static var fields: [String: JSONSchema] {
        ["email": .email, "password": .newPassword, "displayName": .displayName]
    }
    static var requiredFields: Set<String> { ["email", "password"] }
}

extension EmailBody: DocumentedFields {
    static var fields: [String: JSONSchema] { ["email": .email] }
}

extension NewPasswordBody: DocumentedFields {
    static var fields: [String: JSONSchema] { ["newPassword": .newPassword] }
}

extension PasswordChangeBody: DocumentedFields {
    static var fields: [String: JSONSchema] { ["password": .newPassword] }
}
