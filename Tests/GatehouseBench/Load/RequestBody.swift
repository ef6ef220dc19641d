/// Makes the JSON bodies of the calls.
enum RequestBody {
    static let empty = "{}"

    static func signIn(email: String, password: String) -> String {
        #"{"email":"\#(email)","password":"\#(password)"}"#
    }

    static func idToken(_ token: String) -> String {
        #"{"idToken":"\#(token)"}"#
    }

    static func refresh(_ token: String) -> String {
        #"{"refreshToken":"\#(token)"}"#
    }
}

extension Person {
    var signInBody: String { RequestBody.signIn(email: email, password: Seeder.password) }
}
