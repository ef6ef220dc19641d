internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Pages

extension Response {
    static func page(_ page: Page, status: HTTPResponse.Status = .ok) -> Response {
        .html(page.html, headers: page.headers, status: status)
    }

    static func html(
        _ html: String, headers: [(name: String, value: String)], status: HTTPResponse.Status
    ) -> Response {
        var fields = HTTPFields()
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        return Response(status: status, headers: fields, body: .init(byteBuffer: ByteBuffer(string: html)))
    }
}
