/// A Lua script with the requests for wrk.
///
/// wrk calls `request` when a connection is ready to send, and `response`, if the script defines it, for each response.
/// Neither function gets the connection that it is called for.
struct WrkScript: Sendable {
    let name: String
    let lua: String

    static let resultMark = "gatehouse-bench:"

    /// Sends GET requests.
    ///
    /// Each line is an access token.
    static let get = WrkScript(
        name: "get.lua",
        lua: every(line: #"wrk.format("GET", nil, { Authorization = "Bearer " .. line })"#))

    /// Sends GET requests without headers.
    ///
    /// Only the number of lines matters.
    static let plain = WrkScript(name: "plain.lua", lua: every(line: #"wrk.format("GET")"#))

    /// Sends GET requests of browsers to the server's public address.
    ///
    /// Each line is a cookie.
    static let browsers = WrkScript(
        name: "browsers.lua", lua: every(line: #"wrk.format("GET", nil, { Cookie = line, Host = "127.0.0.1:1" })"#))

    /// Sends POST requests, each with the next line as its body.
    ///
    /// After the last line, the body is an empty object.
    static let once = once("once.lua", type: "application/json")

    /// The same with forms; after the last line, every call is refused.
    static let formsOnce = once("forms-once.lua", type: form)

    private static let form = "application/x-www-form-urlencoded"

    private static func once(_ name: String, type: String) -> WrkScript {
        WrkScript(
            name: name,
            lua: """
                local bodies, last = {}, 0
                local headers = { ["Content-Type"] = "\(type)" }

                function init(arguments)
                    for line in io.lines(arguments[1]) do bodies[#bodies + 1] = line end
                end

                function request()
                    last = last + 1
                    return wrk.format("POST", nil, headers, bodies[last] or "{}")
                end
                """ + result)
    }

    /// Sends each line once: a method, a path, an access token and a body, separated by spaces.
    ///
    /// After the last line, every call is refused.
    static let calls = WrkScript(
        name: "calls.lua",
        lua: """
            local calls, last = {}, 0

            function init(arguments)
                for line in io.lines(arguments[1]) do calls[#calls + 1] = line end
            end

            function request()
                last = last + 1
                local line = calls[last] or "GET /api/v1/auth/me none {}"
                local method, path, token, body = string.match(line, "(%S+) (%S+) (%S+) (.+)")
                local headers = { ["Content-Type"] = "application/json", ["Authorization"] = "Bearer " .. token }
                return wrk.format(method, path, headers, body)
            end
            """ + result)

    /// Sends POST requests with the lines as bodies, in turn.
    static let post = WrkScript(
        name: "post.lua",
        lua: every(line: #"wrk.format("POST", nil, { ["Content-Type"] = "application/json" }, line)"#))

    /// Sends POST requests with the lines as forms, in turn.
    static let forms = WrkScript(
        name: "forms.lua",
        lua: every(line: #"wrk.format("POST", nil, { ["Content-Type"] = "\#(form)" }, line)"#))

    /// Refreshes the token on each line in turn.
    ///
    /// The token of each response is appended to the queue.
    static let refresh = refreshing(
        "refresh.lua", type: "application/json", before: #"{"refreshToken":""#, after: #""}"#, member: "refreshToken")

    /// The same at the token endpoint; the form is complete but for the token.
    static func refreshForm(_ fields: String) -> WrkScript {
        refreshing(
            "refresh-form.lua", type: form, before: fields + "&refresh_token=", after: "", member: "refresh_token")
    }

    private static func refreshing(
        _ name: String, type: String, before: String, after: String, member: String
    ) -> WrkScript {
        WrkScript(
            name: name,
            lua: """
                local tokens, first, last = {}, 1, 0
                local headers = { ["Content-Type"] = "\(type)" }

                function add(token)
                    if token then last = last + 1; tokens[last] = token end
                end

                function init(arguments)
                    for line in io.lines(arguments[1]) do add(line) end
                end

                function request()
                    local token = tokens[first] or "none-left"
                    if first <= last then tokens[first] = nil; first = first + 1 end
                    return wrk.format("POST", nil, headers, '\(before)' .. token .. '\(after)')
                end

                function response(status, headers, body)
                    add(string.match(body, '"\(member)":"([^"]+)"'))
                end
                """ + result)
    }

    /// Makes a script that builds one request per line in advance and sends these requests in turn.
    private static func every(line request: String) -> String {
        """
        local requests, last = {}, 0

        function init(arguments)
            for line in io.lines(arguments[1]) do requests[#requests + 1] = \(request) end
        end

        function request()
            last = last % #requests + 1
            return requests[last]
        end
        """ + result
    }

    /// Prints the result of a run, with times in microseconds.
    private static let result = """


        function done(summary, latency, requests)
            local errors = summary.errors
            print(string.format("\(resultMark) %d %d %d %d %d %d", summary.requests, summary.duration, errors.status,
                errors.connect + errors.read + errors.write + errors.timeout,
                latency:percentile(50), latency:percentile(99)))
        end
        """
}
