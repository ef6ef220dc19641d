import Foundation
import ProviderKit
import Testing

/// The models of the mobile app, with every member that it requires.
enum ImmichModels {
    /// A member that must be present and may be null.
    struct Nullable<Value: Decodable>: Decodable {
        let value: Value?

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            value = container.decodeNil() ? nil : try container.decode(Value.self)
        }
    }

    struct Login: Decodable {
        let accessToken, userId, userEmail, name, profileImagePath: String
        let isAdmin, shouldChangePassword, isOnboarded: Bool
    }

    struct User: Decodable {
        enum Color: String, Decodable {
            case primary, pink, red, yellow, blue, green, purple, orange, gray, amber
        }
        enum Status: String, Decodable { case active, removing, deleted }

        let id, email, name, profileImagePath, profileChangedAt, createdAt, updatedAt, oauthId: String
        let avatarColor: Color
        let status: Status
        let isAdmin, shouldChangePassword: Bool
        let storageLabel, deletedAt, license: Nullable<String>
        let quotaSizeInBytes, quotaUsageInBytes: Nullable<Int>
    }

    struct Config: Decodable {
        let loginPageMessage, oauthButtonText, externalDomain, mapDarkStyleUrl, mapLightStyleUrl: String
        let isInitialized, isOnboarded, publicUsers, maintenanceMode: Bool
        let trashDays, userDeleteDelay: Int
    }

    struct Features: Decodable {
        let oauth, oauthAutoLaunch, passwordLogin, configFile, email, trash, search, smartSearch: Bool
        let facialRecognition, duplicateDetection, importFaces, map, reverseGeocoding, sidecar, ocr: Bool
    }

    struct Version: Decodable { let major, minor, patch: Int }
    struct Page: Decodable { let url: String }
    struct Logout: Decodable {
        let successful: Bool
        let redirectUri: String
    }
    struct Status: Decodable {
        let pinCode, password, isElevated: Bool
        let expiresAt, pinExpiresAt: String?
    }

    /// Decodes an answer, and expects that none of its required members can be removed.
    @discardableResult
    static func decode<Model: Decodable>(
        _ type: Model.Type, from answer: APIClient.Answer, optional: Set<String> = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Model {
        let members = try #require(answer.json.object, "\(answer.text)", sourceLocation: sourceLocation)
        for name in members.keys where !optional.contains(name) {
            var fewer = members
            fewer[name] = nil
            let data = try JSONEncoder().encode(JSONValue.object(fewer))
            #expect(throws: DecodingError.self, "\(type) needs \(name)", sourceLocation: sourceLocation) {
                try JSONDecoder().decode(type, from: data)
            }
        }
        return try JSONDecoder().decode(type, from: Data(answer.body))
    }
}
