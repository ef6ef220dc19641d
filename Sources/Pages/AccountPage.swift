package import Foundation

/// One section of the pages of a person's account.
package struct AccountPage: Sendable {
    package enum Section: Sendable {
        case overview, name, data
        /// The tag of the account's language.
        case language(String?)
        case password(Password)
        case identities([Identity], addable: [Provider], code: Code?)
        /// `isKept` says whether this browser stays signed in; `nil` if the person cannot choose that.
        case sessions([Session], isKept: Bool?)
        case apps([App])
        case merges([Merge])
    }

    package enum Password: Sendable {
        /// The account has no address with which a password could be used.
        case impossible
        case new, change
    }

    /// A way to sign in.
    package struct Identity: Sendable {
        package enum Change: Sendable { case email, phone }

        package let id: String
        /// The provider's name for people.
        package let provider: String
        package let address: String?
        package let linkedAt: Date
        package let lastUsedAt: Date?
        /// Whether it opened this session.
        package let isCurrent: Bool
        /// Whether a password reset has blocked it.
        package let isBlocked: Bool
        /// The kind of address that the person can change it to.
        package let change: Change?

        package init(
            id: String, provider: String, address: String?, linkedAt: Date, lastUsedAt: Date?, isCurrent: Bool,
            isBlocked: Bool, change: Change?
        ) {
            (self.id, self.provider, self.address, self.linkedAt) = (id, provider, address, linkedAt)
            (self.lastUsedAt, self.isCurrent, self.isBlocked, self.change) = (lastUsedAt, isCurrent, isBlocked, change)
        }
    }

    /// A provider of which an identity can be added.
    package struct Provider: Sendable {
        package let id, name: String

        package init(id: String, name: String) { (self.id, self.name) = (id, name) }
    }

    /// A code that was sent to a new address, and the hidden fields that its form returns.
    package struct Code: Sendable {
        package let identity, challenge, address, formToken: String

        package init(identity: String, challenge: String, address: String, formToken: String) {
            (self.identity, self.challenge, self.address) = (identity, challenge, address)
            self.formToken = formToken
        }
    }

    package struct Session: Sendable {
        package let id: String
        /// The device as it names itself, and the app of an OpenID client.
        package let device, app: String?
        package let address: String?
        package let createdAt, lastSeenAt: Date
        /// Whether it is this browser's own, and whether it is one of an app in this browser.
        package let isCurrent, isOfCurrent: Bool

        package init(
            id: String, device: String?, app: String?, address: String?, createdAt: Date, lastSeenAt: Date,
            isCurrent: Bool, isOfCurrent: Bool
        ) {
            (self.id, self.device, self.app, self.address) = (id, device, app, address)
            (self.createdAt, self.lastSeenAt, self.isCurrent) = (createdAt, lastSeenAt, isCurrent)
            self.isOfCurrent = isOfCurrent
        }
    }

    package struct App: Sendable {
        package let id, name: String
        package let scopes: [StepPage.Scope]
        package let grantedAt: Date
        package let lastUsedAt: Date?
        package let lastAddress: String?
        /// Whether the person has allowed it what it may do, instead of only using it.
        package var isAllowed = true
        /// The device on which the app is installed, if the entry is of one.
        package var device: String?

        package init(
            id: String, name: String, scopes: [StepPage.Scope], grantedAt: Date, lastUsedAt: Date?, lastAddress: String?
        ) {
            (self.id, self.name, self.scopes, self.grantedAt) = (id, name, scopes, grantedAt)
            (self.lastUsedAt, self.lastAddress) = (lastUsedAt, lastAddress)
        }
    }

    package struct Merge: Sendable {
        package let id: String
        package let mergedAt: Date
        /// Until when it can be undone; `nil` if it no longer can.
        package let undoUntil: Date?

        package init(id: String, mergedAt: Date, undoUntil: Date?) {
            (self.id, self.mergedAt, self.undoUntil) = (id, mergedAt, undoUntil)
        }
    }

    /// What a person has typed into a form; `entry` is the id of the list's entry that the form belongs to.
    package struct TypedText: Sendable {
        package let entry: String?
        package let text: String

        package init(_ text: String, entry: String? = nil) { (self.text, self.entry) = (text, entry) }
    }

    /// The largest number of entries on one page, so that a page of the longest entries is small.
    package static let longestList = 10

    package let section: Section
    package let account: StepPage.Account
    package let isGuest: Bool
    /// The names of the sections that the account has, apart from the overview.
    package let sections: [String]
    /// The URL of the overview.
    package let base: String
    /// Where the person signs out.
    package let signOut: String
    /// Whether the last form has changed something.
    package var isDone = false
    /// What the person has typed into a form that was refused.
    package var typed: TypedText?
    /// The page of a list, from 1.
    package var number = 1

    package init(
        _ section: Section, of account: StepPage.Account, isGuest: Bool, sections: [String], base: String,
        signOut: String
    ) {
        (self.section, self.account, self.isGuest) = (section, account, isGuest)
        (self.sections, self.base, self.signOut) = (sections, base, signOut)
    }

    /// The name of the section in URLs and texts.
    package var name: String? {
        switch section {
        case .overview: nil
        case .name: "name"
        case .language: "language"
        case .password: "password"
        case .identities: "identities"
        case .sessions: "sessions"
        case .apps: "apps"
        case .merges: "merges"
        case .data: "data"
        }
    }
}
