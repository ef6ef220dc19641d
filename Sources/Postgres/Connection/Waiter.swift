/// A caller that waits for a value until the deadline.
struct Waiter<Value: Sendable>: Sendable {
    let deadline: Nanoseconds
    let promise = Promise<Value>()

    init(deadline: Nanoseconds) { self.deadline = deadline }
}
