internal import Accounts
internal import Foundation

/// Message templates (Mustache) from one source, not yet parsed: the built-in templates, an operator's, or those of one
/// application.
///
/// A template can use the variables `application`, `code`, `link`, `until`, `provider`, `device`, `address`, `place` and
/// the list `identities`. All except `application` may be absent; in a text message `application` may be absent too.
struct TemplateLayer: Sendable, Equatable {
    enum Part: String, CaseIterable {
        case subject
        /// Plain text, in which `{{link}}` and `{{code}}` are on their own lines.
        case text
        /// The HTML that the layout's body contains; values are escaped.
        case html
        /// The text message, for topics that can be sent to a phone number. Its only digits are those of `{{code}}` or
        /// `{{link}}`, so that phones recognise the code; the name of an application is left out if it contains a digit.
        case sms
    }

    /// The HTML page around each mail: `{{$content}}{{/content}}` is the mail's HTML, `{{subject}}` its title.
    var layout: String?
    /// The templates by language tag in lower case.
    var languages: [String: [MessageTopic: [Part: String]]] = [:]
}

/// An operator's templates, which replace built-in ones.
///
/// The directory has the structure of the built-in templates: `{language}/{topic}.{subject,text,html,sms}`, such as
/// `fr/signInCode.text`, and `layout.html`. Files below `applications/{application}/` apply to that application only
/// and take precedence. Each file replaces one part of one template. For a language that is not built in, each topic
/// needs either all its parts or none. Other files in the directory are ignored.
package struct TemplateOverrides: Sendable, Equatable {
    package static let none = TemplateOverrides()

    private(set) var common = TemplateLayer()
    private(set) var applications: [String: TemplateLayer] = [:]

    private init() {}

    /// Reads the contents of files, by their paths in the directory.
    /// - Throws: `DeliveryError.invalidSetting` for a file in a language's folder that is not part of a template, or
    ///   for a template that lacks its code or link.
    package init(files: [String: String]) throws(DeliveryError) {
        for (path, content) in files.sorted(by: { $0.key < $1.key }) where Self.concerns(path) {
            let components = path.split(separator: "/").map(String.init)[...]
            if components.first == Self.applicationsFolder, components.count > 2 {
                try applications[components[1], default: TemplateLayer()]
                    .add(content, at: components.dropFirst(2), path: path)
            } else {
                try common.add(content, at: components, path: path)
            }
        }
    }

    /// The templates that are embedded in the binary.
    static func builtIn() throws(DeliveryError) -> TemplateLayer {
        let folder = "Templates/"
        let files = EmbeddedFiles.all.filter { $0.key.hasPrefix(folder) }
        return try Self(
            files: Dictionary(uniqueKeysWithValues: files.map { ($0.dropFirst(folder.count).description, $1) })
        )
        .common
    }

    private static let applicationsFolder = "applications"
    private static let layoutFile = "layout.html"

    /// Whether a file at the path is a template or a layout.
    package static func concerns(_ path: String) -> Bool {
        var components = path.split(separator: "/")[...]
        if components.first == applicationsFolder[...] { components = components.dropFirst(2) }
        guard let first = components.first, let last = components.last, !last.hasPrefix(".") else { return false }
        return components.count == 1 ? last == layoutFile : components.count == 2 && isLanguage(first)
    }

    /// Whether the path is that of a template, or of a directory that may contain templates.
    package static func leads(_ path: String) -> Bool {
        guard !concerns(path) else { return true }
        let components = path.split(separator: "/")
        return switch components.count {
        case 1: components[0] == applicationsFolder || isLanguage(components[0])
        case 2: components[0] == applicationsFolder
        case 3: components[0] == applicationsFolder && isLanguage(components[2])
        default: false
        }
    }

    /// Whether the name is a language tag such as `fr` or `pt-BR`.
    private static func isLanguage(_ name: Substring) -> Bool {
        name.wholeMatch(of: /[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*/) != nil
    }
}

extension TemplateLayer {
    fileprivate mutating func add(
        _ content: String, at components: ArraySlice<String>, path: String
    ) throws(DeliveryError) {
        func refusal(_ reason: String) -> DeliveryError {
            .invalidSetting(field: "delivery.templates", reason: "\(path) \(reason)")
        }
        guard let first = components.first, let file = components.last, components.count == 2 else {
            guard content.contains("{{$content}}") else { throw refusal("has no {{$content}}{{/content}}") }
            layout = content
            return
        }
        let names = file.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard names.count == 2, let topic = MessageTopic(rawValue: names[0]), let part = Part(rawValue: names[1]),
            part != .sms || topic.canBeText
        else { throw refusal("is not the name of a template, such as en/signInCode.text") }
        let content = content.hasSuffix("\n") ? String(content.dropLast()) : content
        guard !content.isEmpty else { throw refusal("is empty") }
        if let flaw = part.flaw(in: content, of: topic) { throw refusal(flaw) }
        languages[first.lowercased(), default: [:]][topic, default: [:]][part] = content
    }
}

extension TemplateLayer.Part {
    /// A description of what the template lacks, if a message made from it would be useless; otherwise `nil`.
    fileprivate func flaw(in template: String, of topic: MessageTopic) -> String? {
        if self == .sms, template.replacing(/\{\{.*?\}\}/, with: "").contains(where: \.isNumber) {
            return "has a digit that is not the code's"
        }
        guard self != .subject, let needed = topic.essential else { return nil }
        guard self == .text else { return template.contains(needed) ? nil : "has no \(needed)" }
        let lines = template.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
        return lines.contains(needed) ? nil : "has no line with nothing but \(needed)"
    }
}

extension MessageTopic {
    /// Whether the message can also be sent to a phone number.
    var canBeText: Bool {
        switch self {
        case .signInCode, .confirmAddress, .addressChanged, .identityLinked, .identityRemoved, .accessGiven,
            .qrSignIn, .deviceConnected, .appRebound, .newDevice, .accountsMerged, .mergeUndone, .accountDeleted,
            .accountRestored, .passwordChanged, .adminGranted, .accountExported, .signInEnding, .invitation, .recovery,
            .recoveryShown:
            true
        case .confirmRegistration, .registrationOfTakenAddress, .resetPassword, .passwordReset, .confirmLink: false
        }
    }

    /// The value that every template of the topic must show.
    fileprivate var essential: String? {
        switch self {
        case .signInCode, .confirmAddress: "{{code}}"
        case .confirmRegistration, .resetPassword, .passwordReset, .confirmLink, .invitation, .recovery: "{{link}}"
        default: nil
        }
    }
}
