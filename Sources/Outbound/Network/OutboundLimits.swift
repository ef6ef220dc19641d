/// What one exchange, and one owner, may take.
package struct OutboundLimits: Sendable {
    /// The whole exchange, with resolution and redirects.
    package var deadline: Duration
    /// Resolution, and each attempt to connect.
    package var connect: Duration
    /// A body of more bytes is not read to its end.
    package var responseSize: Int
    /// Exchanges of one owner at the same time; more are refused, not queued.
    package var concurrency: Int
    package var redirects: Int
    /// How long addresses are remembered.
    package var resolution: Duration

    package init(
        deadline: Duration = .seconds(10), connect: Duration = .seconds(3), responseSize: Int = 1 << 20,
        concurrency: Int = 16, redirects: Int = 3, resolution: Duration = .seconds(30)
    ) {
        self.deadline = deadline
        self.connect = connect
        self.responseSize = responseSize
        self.concurrency = concurrency
        self.redirects = redirects
        self.resolution = resolution
    }
}
