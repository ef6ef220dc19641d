package import Accounts
package import Foundation

/// One message's templates (Mustache).
///
/// They know `application`, `link`, `until` and `provider`; all but the first may be absent.
package struct TemplateSource: Sendable {
    package var subject: String
    /// Plain; `{{link}}` stands alone on its line.
    package var text: String
    /// What stands inside the layout's body; values are escaped.
    package var html: String

    package init(subject: String, text: String, html: String) {
        self.subject = subject
        self.text = text
        self.html = html
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
