/// The syntax of a setting's value.
struct Form: Sendable {
    /// A description of valid values, for problems and for the reference.
    let description: String
    /// The settings below a value of this form, and the separator between its path and theirs; for example `[].` for
    /// the mappings in a list.
    var children: (separator: String, settings: [Setting]) = ("", [])
    /// Checks the value and returns it in normalized form: variables and files are replaced by their contents,
    /// durations are in seconds, `off` is null.
    ///
    /// It returns `nil` after it has reported a problem.
    let read: @Sendable (ConfigurationNode, SettingsReader) -> ConfigurationNode?
}

extension Form {
    /// A scalar whose text `normalize` converts to the form to store; `nil` refuses the text.
    ///
    /// If `normalize` throws, the problem has the error's description.
    static func text(_ description: String, _ normalize: @escaping @Sendable (String) throws -> String?) -> Form {
        scalar(description) { text, node, _ in try normalize(text).map { node.with(.scalar($0)) } }
    }

    /// A scalar from whose text a value of the type can be decoded.
    static func text<Value: Decodable & Sendable>(_ description: String, as type: Value.Type) -> Form {
        scalar(description) { text, node, _ in
            let node = node.with(.scalar(text))
            _ = try Value(from: SettingsDecoder(node))
            return node
        }
    }

    /// A secret: `file:PATH` is replaced by the content of the file.
    ///
    /// Secrets of a provider that is off are not read.
    static func secret(_ description: String, _ isValid: @escaping @Sendable (String) throws -> Bool) -> Form {
        let form = scalar(description) { text, node, reader in
            guard let secret = reader.secret(text, at: node.place) else { throw Reported() }
            return try isValid(secret) ? node.with(.scalar(secret)) : nil
        }
        return Form(description: description) { node, reader in
            reader.hide(node.place)
            guard reader.ignoresSecrets, node.text != nil else { return form.read(node, reader) }
            return node
        }
    }

    static func scalar(
        _ description: String,
        _ parse: @escaping @Sendable (String, ConfigurationNode, SettingsReader) throws -> ConfigurationNode?
    ) -> Form {
        Form(description: description) { node, reader in
            guard let text = node.text else { return reader.refuse(node, expected: description) }
            guard let text = reader.expand(text, at: node.place) else { return nil }
            do {
                return try parse(text, node, reader) ?? reader.refuse(node, expected: description)
            } catch {
                if !(error is Reported) { reader.report(error, at: node) }
                return nil
            }
        }
    }

    /// A list whose elements all have the given form.
    ///
    /// Elements that are refused are left out.
    static func list(of form: Form) -> Form {
        let children = (separator: "[]\(form.children.separator)", settings: form.children.settings)
        return Form(description: "a list, each: \(form.description)", children: children) { node, reader in
            guard case .list(let items) = node.content else { return reader.refuse(node, expected: "a list") }
            return node.with(.list(items.compactMap { form.read($0, reader) }))
        }
    }

    /// A mapping that decodes to `type`, which declares its keys.
    ///
    /// If `isShared`, the section is at the top of the file and has the defaults of the applications' sections of that
    /// type.
    static func section<Section: SettingsSection>(_ type: Section.Type, isShared: Bool = false) -> Form {
        let short = Section.shorthand.first { $0.text == nil }
        let form = Section.settings.first { $0.name == short?.key }?.form
        let description = form.map { "a mapping, or \($0.description)" } ?? "a mapping"
        return Form(description: description, children: (".", Section.settings)) { node, reader in
            reader.section(node, as: type, isShared: isShared)
        }
    }

    /// A mapping whose keys are names that the administrator chooses.
    static func named(
        _ settings: [Setting],
        _ read: @escaping @Sendable (String, ConfigurationNode, SettingsReader) -> ConfigurationNode?
    ) -> Form {
        Form(description: "a mapping of names", children: (".NAME.", settings)) { node, reader in
            guard node.isMapping else { return reader.refuse(node, expected: "a mapping") }
            return node.with(
                .table(
                    node.entries.compactMap { entry in
                        guard entry.key.isConfiguredName else {
                            reader.report(
                                "a name is 1 to 63 of a-z, 0-9, _ and -, the first a letter or digit",
                                at: entry.value.place)
                            return nil
                        }
                        return read(entry.key, entry.value, reader).map { .init(key: entry.key, value: $0) }
                    }))
        }
    }
}

/// The error after a problem that has been reported already.
struct Reported: Error {}

extension ConfigurationNode {
    /// Whether the value is a mapping; an empty value counts as an empty mapping.
    var isMapping: Bool {
        switch content {
        case .table, .null: true
        case .scalar, .list: false
        }
    }
}

extension String {
    /// Whether an application or a provider may have this name, which is part of paths and of keys in the database.
    var isConfiguredName: Bool {
        (1...63).contains(utf8.count) && first != "_" && first != "-"
            && utf8.allSatisfy { "abcdefghijklmnopqrstuvwxyz0123456789_-".utf8.contains($0) }
    }
}
