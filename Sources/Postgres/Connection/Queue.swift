/// A first-in first-out queue in amortised constant time.
struct Queue<Element> {
    private var elements: [Element?] = []
    private var head = 0

    init() {}
    var count: Int { elements.count - head }
    var isEmpty: Bool { count == 0 }
    var first: Element? { isEmpty ? nil : elements[head] }
    mutating func append(_ element: Element) { elements.append(element) }

    mutating func prepend(_ others: [Element]) {
        elements.replaceSubrange(..<head, with: others)
        head = 0
    }

    @discardableResult
    mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        let element = elements[head]
        elements[head] = nil
        head += 1
        if head > 64, head * 2 > elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }

    mutating func removeAll(where isGone: (Element) -> Bool) { self = Self(filter { !isGone($0) }) }

    /// Empties the queue and returns what it held.
    mutating func takeAll() -> [Element] {
        defer { self = Self() }
        return Array(self)
    }
}

extension Queue: Sequence {
    init(_ elements: some Sequence<Element>) { self.elements = elements.map(Optional.some) }

    func makeIterator() -> AnyIterator<Element> {
        var rest = elements[head...].lazy.compactMap { $0 }.makeIterator()
        return AnyIterator { rest.next() }
    }
}
