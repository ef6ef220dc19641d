/// The part of a list that a client requests.
package struct RequestedPage: Sendable {
    package let limit: Int
    /// The cursor after which the part begins; `nil` for the first part.
    package let after: String?

    package init(limit: Int = PageCursors.standardLimit, after: String? = nil) {
        (self.limit, self.after) = (limit, after)
    }
}
