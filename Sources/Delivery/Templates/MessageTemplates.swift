package import Accounts
package import Foundation

/// One message's templates (Mustache).
///
/// They know `application`, `code`, `link`, `until`, `provider` and the list `identities`; all but the first may be absent, in a text message
/// `application` too.
package struct TemplateSource: Sendable {
    package var subject: String
    /// Plain; `{{link}}` and `{{code}}` stand alone on their lines.
    package var text: String
    /// What stands inside the layout's body; values are escaped.
    package var html: String
    /// The text message, where the topic has one: without any digit but those of `{{code}}`, so that an application
    /// whose name has one is not named.
    package var sms: String?

    package init(subject: String, text: String, html: String, sms: String? = nil) {
        self.subject = subject
        self.text = text
        self.html = html
        self.sms = sms
    }
}

/// All templates of one language.
package struct MessageTemplates: Sendable {
    /// A BCP 47 tag.
    package let language: String
    /// The HTML page around each message: `{{$content}}{{/content}}` is its body, `{{subject}}` its title.
    package let layout: String
    package let formatTime: @Sendable (Date) -> String
    package let source: @Sendable (MessageTopic) -> TemplateSource

    /// `source` is total over the topics, so that a new topic doesn't compile before each language has it.
    package init(
        language: String, layout: String = MessageTemplates.plainLayout,
        formatTime: @escaping @Sendable (Date) -> String, source: @escaping @Sendable (MessageTopic) -> TemplateSource
    ) {
        self.language = language
        self.layout = layout
        self.formatTime = formatTime
        self.source = source
    }

    /// The languages that Gatehouse speaks by itself; the first is for all who want none of them.
    package static let builtIn: [MessageTemplates] = [.english, .french, .german, .spanish]

    /// Black on white, one column, nothing fetched from anywhere.
    package static let plainLayout = """
        <!DOCTYPE html>
        <html lang="{{language}}">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>{{subject}}</title>
        </head>
        <body style="margin: 0; padding: 24px; font: 16px/1.5 sans-serif; color: #1a1a1a; background: #ffffff">
        <main style="max-width: 36em; overflow-wrap: break-word">
        {{$content}}{{/content}}
        </main>
        </body>
        </html>

        """
}
