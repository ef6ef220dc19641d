internal import Foundation

extension AccountPage {
    /// The values of the section's template; `text` renders a text of the language.
    func values(in language: PageLanguage, problem: String?, text: (String) -> String) -> [String: Any] {
        var values: [String: Any] = [
            "who": account.name ?? account.address ?? text("account.guest"),
            "whoAddress": account.name.flatMap { _ in account.address } ?? false as Any,
            "isDone": isDone, "isGuest": isGuest, "base": base, "signOut": signOut,
            "isOverview": name == nil,
            "sections": sections.map { section in
                [
                    "path": section, "isHere": section == name, "label": text("account.\(section)"),
                    "about": text("account.\(section).about"),
                ] as [String: Any]
            },
        ]
        switch section {
        case .overview: break
        case .name: values["displayName"] = typed?.text ?? account.name ?? ""
        case .language(let chosen):
            values["choices"] = PageLanguage.allCases.map {
                ["tag": $0.rawValue, "label": $0.name, "isChosen": $0.rawValue == chosen ?? language.rawValue]
            }
        case .password(let password):
            values["isImpossible"] = password == .impossible
            values["hasPassword"] = password == .change
            values["isAboutNew"] = password == .new || ["TOO_WEAK_PASSWORD", "MISSING_PARAMETER"].contains(problem)
        case .identities(let identities, let addable, let code):
            let isOnly = identities.count == 1
            values["addable"] = addable.map { ["id": $0.id, "provider": $0.name] }
            // Where a code is asked for, the page's focus is on its field.
            let typed = code == nil ? typed : nil
            values.merge(list(identities) { $0.values(in: language, isOnly: isOnly, typed: typed) }) { $1 }
            values["code"] = code.map {
                [
                    "identity": $0.identity, "challenge": $0.challenge, "identifier": $0.address,
                    "codeToken": $0.formToken,
                ]
            }
        case .sessions(let sessions, let isKept):
            values.merge(list(sessions) { $0.values(in: language) }) { $1 }
            values["hasOthers"] = sessions.contains { !$0.isCurrent && !$0.isOfCurrent }
            values["asksToKeep"] = isKept != nil
            values["isKept"] = isKept ?? false
        case .apps(let apps): values.merge(list(apps) { $0.values(in: language, text: text) }) { $1 }
        case .merges(let merges): values.merge(list(merges) { $0.values(in: language) }) { $1 }
        case .data: values["word"] = text("account.data.word")
        }
        return values
    }

    /// The entries of the list's page, and the numbers of the pages around it.
    private func list<Entry>(_ entries: [Entry], _ values: (Entry) -> [String: Any]) -> [String: Any] {
        let pages = max(1, (entries.count + Self.longestList - 1) / Self.longestList)
        let number = min(max(1, number), pages)
        let shown = entries.dropFirst((number - 1) * Self.longestList).prefix(Self.longestList)
        return [
            "entries": shown.map(values), "isEmpty": entries.isEmpty,
            "previous": number > 1 ? link(number - 1) : false as Any,
            "next": number < pages ? link(number + 1) : false as Any,
        ]
    }

    private func link(_ number: Int) -> String { "?page=\(number)" }
}

extension AccountPage.Identity {
    fileprivate func values(
        in language: PageLanguage, isOnly: Bool, typed: AccountPage.TypedText?
    ) -> [String: Any] {
        let typed = typed.flatMap { $0.entry == id ? $0.text : nil }
        return [
            "id": id, "provider": provider.bounded, "place": address?.bounded ?? false,
            "linked": language.text(of: linkedAt),
            "used": lastUsedAt.map(language.text(of:)) ?? false, "isCurrent": isCurrent, "isBlocked": isBlocked,
            "isOnly": isOnly, "isEmail": change == .email, "isPhone": change == .phone, "isChangeable": change != nil,
            "isTyped": typed != nil, "typed": typed ?? "",
        ]
    }
}

extension AccountPage.Session {
    fileprivate func values(in language: PageLanguage) -> [String: Any] {
        [
            "id": id, "device": device?.bounded ?? false, "app": app?.bounded ?? false, "place": address ?? false,
            "began": language.text(of: createdAt), "seen": language.text(ofTime: lastSeenAt), "isCurrent": isCurrent,
        ]
    }
}

extension AccountPage.App {
    fileprivate func values(in language: PageLanguage, text: (String) -> String) -> [String: Any] {
        [
            "id": id, "app": name.bounded, "device": device?.bounded ?? false, "given": language.text(of: grantedAt),
            "isAllowed": isAllowed,
            "used": lastUsedAt.map(language.text(ofTime:)) ?? false, "place": lastAddress ?? false,
            "scopes": scopes.prefix(AccountPage.longestList).map { scope in
                switch scope {
                case .resource(let words): words.bounded
                case .standard(let name, _): text("scope.\(name)")
                }
            },
        ]
    }
}

extension AccountPage.Merge {
    fileprivate func values(in language: PageLanguage) -> [String: Any] {
        ["id": id, "merged": language.text(of: mergedAt), "until": undoUntil.map(language.text(ofTime:)) ?? false]
    }
}

extension String {
    /// The beginning of a text whose length another party has chosen.
    fileprivate var bounded: String {
        unicodeScalars.count <= 80 ? self : String(String.UnicodeScalarView(unicodeScalars.prefix(79))) + "…"
    }
}

extension StepPage {
    /// Whether a person has typed the word that confirms the deletion of an account; upper and lower case are equal.
    package static func confirms(deletion typed: String, in language: PageLanguage) -> Bool {
        // Longer texts from outside are slow to compare.
        guard typed.utf8.count <= 256 else { return false }
        let word = PageTemplates.all[language]?.render("account.data.word", [:])
        return word?.lowercased() == typed.trimmingCharacters(in: .whitespaces).lowercased()
    }
}
