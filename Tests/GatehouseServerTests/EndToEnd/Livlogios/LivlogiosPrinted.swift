// swift-format-ignore-file
// The Swift code that the documentation of the app Livlogios prints: the request to the server and the Keychain. Only the
// host is another, and the function has the `throws` that it lacks. `LivlogiosPlatform.swift` has what it takes from the
// platform, and the type `AuthResponse`, which is not printed.

import Foundation
import FoundationNetworking

struct AppleAuthRequest: Encodable {
    let identityToken: String
    let authorizationCode: String?
    let fullName: PersonNameComponents?
    let email: String?
}

func authenticateWithBackend(
    identityToken: String,
    authorizationCode: String?,
    fullName: PersonNameComponents?,
    email: String?
) async throws {
    let url = URL(string: "\(LivlogiosApp.host)/api/v1/auth/apple")!
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")

    let body = AppleAuthRequest(
        identityToken: identityToken,
        authorizationCode: authorizationCode,
        fullName: fullName,
        email: email
    )
    request.httpBody = try? JSONEncoder().encode(body)

    let (data, _) = try await URLSession.shared.data(for: request)
    let response = try JSONDecoder().decode(AuthResponse.self, from: data)

    // Store tokens in Keychain
    KeychainManager.save(accessToken: response.accessToken)
    KeychainManager.save(refreshToken: response.refreshToken)
}

class KeychainManager {
    private static let service = "net.avalarin.livlogios"

    static func save(accessToken: String) {
        save(key: "accessToken", value: accessToken)
    }

    static func save(refreshToken: String) {
        save(key: "refreshToken", value: refreshToken)
    }

    private static func save(key: String, value: String) {
        let data = value.data(using: .utf8)!

        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccount as String: key,
            kSecValueData as String: data,
            kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
        ]

        SecItemDelete(query as CFDictionary)
        SecItemAdd(query as CFDictionary, nil)
    }

    static func get(key: String) -> String? {
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccount as String: key,
            kSecReturnData as String: true
        ]

        var result: AnyObject?
        let status = SecItemCopyMatching(query as CFDictionary, &result)

        guard status == errSecSuccess,
              let data = result as? Data,
              let value = String(data: data, encoding: .utf8) else {
            return nil
        }

        return value
    }

    static func delete(key: String) {
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccount as String: key
        ]
        SecItemDelete(query as CFDictionary)
    }
}
