import Accounts
import Testing

@testable import Pages

/// Each refusal of the linking rules has a text with its reason and what the person can do, in every language.
struct RefusalTextTests {
    /// The names of the texts of a refusal by a rule; `nil` for rules that do not refuse.
    private static func texts(of rule: LinkingRule) -> [String]? {
        switch rule {
        case .providerOff, .providerLinkOnly, .providerNoSignUp, .guestNotLinkable:
            ["problem.PROVIDER_DISABLED.\(rule.rawValue)"]
        case .identityInUse, .addressInUse:
            ["problem.IDENTITY_IN_USE.\(rule.rawValue)", "conflict.\(rule.rawValue)"]
        case .identityQuarantined, .numberIdle: ["problem.SECOND_PROOF_REQUIRED.\(rule.rawValue)"]
        case .accountDisabled: ["problem.ACCOUNT_DISABLED"]
        case .accountDeleted: ["problem.ACCOUNT_DELETED.\(rule.rawValue)"]
        case .accountFull: ["problem.LIMIT_REACHED.\(rule.rawValue)"]
        case .reauthenticationForeign: ["problem.INVALID_CREDENTIALS.\(rule.rawValue)"]
        case .lastUsableIdentity: ["problem.LAST_USABLE_IDENTITY"]
        case .identityHasRole:
            ["problem.TOKEN_TOO_OLD.\(rule.rawValue)", "problem.INVALID_PARAMETER.\(rule.rawValue)"]
        case .undoStrands: ["problem.LAST_USABLE_IDENTITY.\(rule.rawValue)"]
        case .identityKnown, .identityOwn, .accountRestored, .numberRecycled, .addressOwned, .addressOfSeveral,
            .addressNotJoined, .addressProven, .addressUnproven, .identityNew, .linkAsked, .guestUpgrade, .guestSwitch,
            .guestMerge:
            nil
        }
    }

    @Test(arguments: PageLanguage.allCases)
    func `every refusal has a text of its own that pages show`(language: PageLanguage) throws {
        let texts = PageTemplates.texts(of: language)
        for rule in LinkingRule.allCases {
            let names = Self.texts(of: rule)
            #expect((names == nil) == rule.remedies.isEmpty, "\(rule)")
            for name in names ?? [] {
                let text = try #require(texts[name], "\(language) \(name)")
                #expect(!text.contains("/auth"), "\(name) is for people")
                guard name.hasPrefix("problem.") else { continue }
                var page = StepPage(.signIn(.init()), in: language, of: "Photos")
                let code = name.split(separator: ".")[1]
                page.problem = .init(code: String(code), rule: rule.rawValue)
                let shown = page.page.html.firstMatch(of: /id="problem"[^>]*>(.*)<\/p>/)?.output.1
                #expect(
                    shown?.replacing(/<\/?span>/, with: "")
                        == text.replacing("{{application}}", with: "Photos").replacing(" • ", with: " ")[...])
            }
        }
    }
}
