/// A Lua script with the requests for wrk.
///
/// wrk calls `request` whenever a connection may send, and `response`, where there is one, for every answer; neither
/// knows which connection it is for.
struct WrkScript: Sendable {
    let name: String
    let lua: String

    static let resultMark = "gatehouse-bench:"

    /// A bearer on each line.
    static let get = WrkScript(
        name: "get.lua",
        lua: every(line: #"wrk.format("GET", nil, { Authorization = "Bearer " .. line })"#))

    /// Requests with any content.
    static let plain = WrkScript(name: "plain.lua", lua: every(line: #"wrk.format("GET")"#))

    /// A body on each line, each sent once; an empty one where there is none left.
    static let once = WrkScript(
        name: "once.lua",
        lua: """
            local bodies, last = {}, 0
            local headers = { ["Content-Type"] = "application/json" }

            function init(arguments)
                for line in io.lines(arguments[1]) do bodies[#bodies + 1] = line end
            end

            function request()
                last = last + 1
                return wrk.format("POST", nil, headers, bodies[last] or "{}")
            end
            """ + result)

    /// A body on each line.
    static let post = WrkScript(
        name: "post.lua",
        lua: every(line: #"wrk.format("POST", nil, { ["Content-Type"] = "application/json" }, line)"#))

    /// A refresh token on each line; each answer's token is presented again after all others.
    static let refresh = WrkScript(
        name: "refresh.lua",
        lua: """
            local tokens, first, last = {}, 1, 0
            local headers = { ["Content-Type"] = "application/json" }

            function add(token)
                if token then last = last + 1; tokens[last] = token end
            end

            function init(arguments)
                for line in io.lines(arguments[1]) do add(line) end
            end

            function request()
                local token = tokens[first] or "none-left"
                if first <= last then tokens[first] = nil; first = first + 1 end
                return wrk.format("POST", nil, headers, '{"refreshToken":"' .. token .. '"}')
            end

            function response(status, headers, body)
                add(string.match(body, '"refreshToken":"([^"]+)"'))
            end
            """ + result)

    /// Requests that are made beforehand and sent in turn.
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

    /// Times are microseconds.
    private static let result = """


        function done(summary, latency, requests)
            local errors = summary.errors
            print(string.format("\(resultMark) %d %d %d %d %d %d", summary.requests, summary.duration, errors.status,
                errors.connect + errors.read + errors.write + errors.timeout,
                latency:percentile(50), latency:percentile(99)))
        end
        """
}
