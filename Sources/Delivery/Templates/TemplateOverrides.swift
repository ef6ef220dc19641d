internal import Accounts
internal import Foundation

/// An administrator's own templates, in place of the built-in ones.
///
/// The directory holds `{language}/{topic}.{subject,text,html,sms}`, as in `fr/signInCode.text`, and `layout.html`, the
/// page around each mail's HTML. The same below `applications/{application}/` is that application's alone and goes
/// before. Each file replaces one part of one template; a language that Gatehouse doesn't speak needs all parts of each
/// topic that it has any of. What lies elsewhere in the directory is of no interest.
package struct TemplateOverrides: Sendable, Equatable {
    enum Part: String, CaseIterable {
        case subject, text, html, sms
    }

    /// Those of one application, or of all.
    struct Layer: Sendable, Equatable {
        var layout: String?
        /// By language, in lower case.
        var languages: [String: [MessageTopic: [Part: String]]] = [:]
    }

    package static let none = TemplateOverrides()

    var common = Layer()
    var applications: [String: Layer] = [:]

    private init() {}

    /// Takes the files' contents by their paths in the directory.
    ///
    /// - Throws: `DeliveryError.invalidSetting` for a file of a language that is no part of a template, or whose
    ///   template leaves out what the message is for.
    package init(files: [String: String]) throws(DeliveryError) {
        for (path, content) in files.sorted(by: { $0.key < $1.key }) where Self.concerns(path) {
            var components = path.split(separator: "/").map(String.init)[...]
            if components.first == Self.applicationsFolder, components.count > 2 {
                let application = components[components.startIndex + 1]
                components = components.dropFirst(2)
                try applications[application, default: Layer()].add(content, at: components, path: path)
            } else {
                try common.add(content, at: components, path: path)
            }
        }
    }

    package static let applicationsFolder = "applications"
    static let layoutFile = "layout.html"

    /// Whether a file is meant to be a template.
    package static func concerns(_ path: String) -> Bool {
        var components = path.split(separator: "/")[...]
        if components.first == Self.applicationsFolder[...] {
            components = components.dropFirst(2)
        }
        guard let first = components.first, let last = components.last, !last.hasPrefix(".") else { return false }
        return components.count == 1 ? last == layoutFile : components.count == 2 && isLanguage(first)
    }

    /// Whether a path is a template's, or a directory's that may hold some.
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

    /// As in `fr` or `pt-BR`.
    private static func isLanguage(_ name: Substring) -> Bool {
        name.wholeMatch(of: /[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*/) != nil
    }
}

extension TemplateOverrides.Layer {
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
        guard names.count == 2, let topic = MessageTopic(rawValue: names[0]),
            let part = TemplateOverrides.Part(rawValue: names[1]),
            part != .sms || topic.canBeText
        else { throw refusal("is no part of any message") }
        let content = content.hasSuffix("\n") ? String(content.dropLast()) : content
        guard !content.isEmpty else { throw refusal("is empty") }
        if let reason = TemplateOverrides.flaw(in: content, as: part, of: topic) { throw refusal(reason) }
        languages[first.lowercased(), default: [:]][topic, default: [:]][part] = content
    }
}

extension TemplateOverrides {
    /// What a message can't do without.
    fileprivate static func flaw(in template: String, as part: Part, of topic: MessageTopic) -> String? {
        let needed = topic.essential
        switch part {
        case .subject:
            return nil
        case .text:
            let lines = template.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
            return needed.map { lines.contains($0) } ?? true ? nil : "has no line with nothing but \(needed ?? "")"
        case .html:
            return needed.map { template.contains($0) } ?? true ? nil : "has no \(needed ?? "")"
        case .sms:
            if let needed, !template.contains(needed) { return "has no \(needed)" }
            let literal = template.replacing(/\{\{.*?\}\}/, with: "")
            return literal.contains(where: \.isNumber) ? "has a digit that is not the code's" : nil
        }
    }
}

extension MessageTopic {
    /// It goes to phone numbers too.
    var canBeText: Bool {
        switch self {
        case .signInCode, .confirmAddress, .addressChanged, .identityLinked, .identityRemoved, .accountsMerged,
            .mergeUndone, .accountDeleted, .accountRestored, .passwordChanged:
            true
        case .confirmRegistration, .registrationOfTakenAddress, .resetPassword, .passwordReset, .confirmLink:
            false
        }
    }

    /// What a template of it can't do without.
    fileprivate var essential: String? {
        switch self {
        case .signInCode, .confirmAddress: "{{code}}"
        case .confirmRegistration, .resetPassword, .passwordReset, .confirmLink: "{{link}}"
        default: nil
        }
    }
}
