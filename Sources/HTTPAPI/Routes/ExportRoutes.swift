internal import Accounts
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// A copy of everything that is held about whoever asks.
struct ExportRoutes {
    let useCases: UseCases

    var endpoints: [Endpoint] { [export] }

    /// Its time is written down, so that it is no question that HEAD may ask too.
    private var export: Endpoint {
        Endpoint(
            method: .get, path: base + "/auth/account/export", summary: "Everything held about the person",
            access: .recent, limit: .export, answersHEAD: false,
            answer: .init(
                status: .ok, body: ExportPayload.self, description: "Everything held about the person",
                headers: ["Content-Disposition": "Names the file that a browser saves it as."]),
            errors: []
        ) { context, _ in
            let principal = try context.principal
            try await useCases.export.begin(of: principal.uid, by: principal, in: principal.application)
            let writer = ExportWriter(export: useCases.export, recipients: context.application.recipients)
            let headers: HTTPFields = [
                .contentType: "application/json; charset=utf-8", .cacheControl: "no-store",
                .contentDisposition: "attachment; filename=\"account-\(principal.uid.text).json\"",
            ]
            return Response(
                status: .ok, headers: headers,
                body: ResponseBody { body in
                    try await writer.write(principal.uid, in: principal.application, at: Date()) { bytes in
                        try await body.write(ByteBuffer(bytes: bytes))
                    }
                    try await body.finish(nil)
                })
        }
    }
}
