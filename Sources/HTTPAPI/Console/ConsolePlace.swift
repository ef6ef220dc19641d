internal import Administration
internal import Console
internal import ProviderKit

/// A page of the console below `/console/{app}`.
struct ConsolePlace: Sendable {
    typealias Build = @Sendable (ConsoleRequest) async throws -> ConsolePage

    let path: String
    /// The paths of acts whose forms stand on this page, so that a refused one is shown here again.
    let forms: [String]
    /// Whether the page is only a form, to which the console does not return after an act.
    let isOfForm: Bool
    let build: Build

    init(_ path: String, forms: [String] = [], isOfForm: Bool = false, build: @escaping Build) {
        (self.path, self.forms, self.isOfForm, self.build) = (path, forms, isOfForm, build)
    }
}

/// What the console shows of the answer to a question, such as a search.
struct ConsoleAnswer: Sendable {
    typealias Build = @Sendable (ConsoleRequest, _ answer: JSONValue, _ fields: FormFields) async throws -> ConsolePage

    /// The path of the question.
    let path: String
    /// Whether the operation is an act, whose answer is shown instead of the page that shows its effect.
    let isOfAct: Bool
    let build: Build

    init(_ path: String, isOfAct: Bool = false, build: @escaping Build) {
        (self.path, self.isOfAct, self.build) = (path, isOfAct, build)
    }
}

/// How the fields of a form become the bodies of calls, for a form whose fields are not those of the operation.
///
/// The calls are made one after the other until one answers with a list that is not empty.
typealias ConsoleReading = @Sendable (ConsoleRequest, Endpoint, FormFields) throws -> [JSONValue]

/// The pages of the console, by subject.
enum ConsolePlaces {
    /// A page that has a link above every page.
    struct Section: Sendable {
        let path, title: String
        /// `nil` for everybody.
        let scope: AdminScope?
    }

    static let all: [ConsolePlace] = [overview] + accounts + providers + operations + trials + [you, admission]
    static let answers: [ConsoleAnswer] = accountAnswers + providerAnswers + operationAnswers
    /// By the paths of the operations.
    static let readings: [String: ConsoleReading] = accountReadings.merging(providerReadings) { $1 }

    /// The lists of the admin API that the page of an account shows in sections of these names.
    static let partsOfAccount = ["timeline", "sessions", "identities", "merges"]

    /// The paths of the admin API's files, which are sent as they are.
    static let downloads = ["/audit/export"]

    /// The sections of the navigation, in its order.
    static let sections: [Section] = [
        Section(path: "", title: "Overview", scope: .readServer),
        Section(path: "/accounts", title: "Accounts", scope: .readAccounts),
        Section(path: "/providers", title: "Providers", scope: .readServer),
        Section(path: "/explain", title: "Explain", scope: .readAccounts),
        Section(path: "/erasures", title: "Erasures", scope: .readServer),
        Section(path: "/webhooks", title: "Webhooks", scope: .readServer),
        Section(path: "/deliveries", title: "Deliveries", scope: .readServer),
        Section(path: "/messages", title: "Messages", scope: .readServer),
        Section(path: "/audit", title: "Audit", scope: .readAudit),
        Section(path: "/keys", title: "Keys", scope: .readServer),
        Section(path: "/limits", title: "Limits", scope: .writeLimits),
        Section(path: "/admins", title: "Admins", scope: .writeAdmins),
        Section(path: "/service-keys", title: "Service keys", scope: .writeAdmins),
        Section(path: "/configuration", title: "Configuration", scope: .readServer),
    ]
}
