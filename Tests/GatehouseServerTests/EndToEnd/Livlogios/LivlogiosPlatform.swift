import Foundation
import Synchronization

/// The response that the printed request decodes.
struct AuthResponse: Decodable {
    let accessToken: String
    let refreshToken: String
    let expiresIn: Int
    let user: User

    /// Times are text, because the printed decoder has no strategy for dates.
    struct User: Decodable {
        let id: UUID
        let email: String?
        let displayName: String?
        let createdAt: String
    }
}

/// Stands for the Keychain of one device; each test has a device of its own.
final class Keychain: Sendable {
    @TaskLocal static var current = Keychain()

    private let items = Mutex<[String: Data]>([:])

    func item(_ key: String) -> Data? { items.withLock { $0[key] } }
    func set(_ key: String, to data: Data?) { items.withLock { $0[key] = data } }
}

// MARK: - The platform's names, as far as the printed code uses them

typealias CFDictionary = [String: Any]

let kSecClass = "class"
let kSecClassGenericPassword = "genp"
let kSecAttrService = "svce"
let kSecAttrAccount = "acct"
let kSecValueData = "v_Data"
let kSecReturnData = "r_Data"
let kSecAttrAccessible = "pdmn"
let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly = "cku"
let errSecSuccess: Int32 = 0
private let errSecItemNotFound: Int32 = -25_300
private let errSecParam: Int32 = -50

extension CFDictionary {
    /// The name of the item that the query is about; `nil` for a query that names none.
    fileprivate var item: String? {
        guard let service = self[kSecAttrService] as? String, let account = self[kSecAttrAccount] as? String else {
            return nil
        }
        return "\(service) \(account)"
    }
}

@discardableResult
func SecItemAdd(_ query: CFDictionary, _ result: UnsafeMutablePointer<AnyObject?>?) -> Int32 {
    guard let item = query.item, let data = query[kSecValueData] as? Data else { return errSecParam }
    Keychain.current.set(item, to: data)
    return errSecSuccess
}

@discardableResult
func SecItemDelete(_ query: CFDictionary) -> Int32 {
    guard let item = query.item, Keychain.current.item(item) != nil else { return errSecItemNotFound }
    Keychain.current.set(item, to: nil)
    return errSecSuccess
}

func SecItemCopyMatching(_ query: CFDictionary, _ result: inout AnyObject?) -> Int32 {
    guard let item = query.item, let data = Keychain.current.item(item) else { return errSecItemNotFound }
    result = data as AnyObject
    return errSecSuccess
}
