/// What `gatehouse dev` prints once it serves: where, and a first session to paste.
struct Banner {
    let port: Int
    let directory: String

    var text: String {
        let api = "http://127.0.0.1:\(port)/api/v1/auth"
        return """

            Gatehouse serves the application demo on http://127.0.0.1:\(port)
              messages   http://127.0.0.1:\(port)/dev/inbox
              the API    http://127.0.0.1:\(port)/openapi.json
              database   \(directory)/postgres (delete \(directory) to start afresh)

            A first session; paste line by line:

              SESSION=$(curl -s -X POST \(api)/anonymous); echo "$SESSION"

              SESSION=$(curl -s -X POST \(api)/refresh -H 'Content-Type: application/json' \
            -d "{\\"refreshToken\\":\\"$(\(field("refreshToken")))\\"}"); echo "$SESSION"

              curl -i -X DELETE \(api)/account -H "Authorization: Bearer $(\(field("accessToken")))"

            Ctrl-C stops the server and its database.

            """
    }

    /// Without a JSON tool, which not everybody has.
    private func field(_ name: String) -> String {
        #"echo "$SESSION" | sed 's/.*"\#(name)":"\([^"]*\)".*/\1/'"#
    }
}
