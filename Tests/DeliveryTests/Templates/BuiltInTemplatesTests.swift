import Accounts
import Testing

@testable import Delivery

struct BuiltInTemplatesTests {
    @Test(arguments: MessageTopic.allCases)
    func everyLanguageHasAllPartsWithTheSameTags(topic: MessageTopic) throws {
        let languages = try TemplateOverrides.builtIn().languages
        #expect(Set(languages.keys) == ["en", "fr", "de", "es"])
        for part in TemplateLayer.Part.allCases where part != .sms || topic.canBeText {
            let tags = try languages.values.map { topics in
                Set(try #require(topics[topic]?[part]).matches(of: /\{\{.*?\}\}/).map(\.output))
            }
            #expect(Set(tags).count == 1, "\(topic).\(part): \(tags)")
        }
    }
}
