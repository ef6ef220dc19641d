import Foundation
import ProviderKit
import Testing

/// Looks at pages of the console that a walk has reached: in a wide window on light ground, and as on a phone, which is
/// also how a wide window shows them at 400 %, on dark ground.
///
/// Only contrast depends on the colours, so the other rules of axe-core run once.
struct ConsoleInspection {
    private static let rules = "{runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}"
    /// Descriptions of fields that are missing, and times without words, which axe-core does not report.
    private static let gaps = """
        [...[...document.querySelectorAll('[aria-describedby]')]
             .flatMap(field => field.getAttribute('aria-describedby').split(' '))
             .filter(id => !document.getElementById(id)),
         ...[...document.querySelectorAll('time')].filter(time => !time.dateTime || !time.textContent)
             .map(time => time.parentElement.outerHTML)]
        """
    /// Parts of a cell that a narrow window shows below the cell's label, and links of the header without a gap.
    private static let collisions = """
        [...[...document.querySelectorAll('td > *')].filter(part => part.offsetWidth > 1
                 && part.getBoundingClientRect().left < part.parentElement.getBoundingClientRect().left + 120),
         ...[...document.querySelectorAll('header nav a + a')].filter(link => {
             const [former, own] = [link.previousElementSibling, link].map(each => each.getBoundingClientRect());
             return former.top === own.top && own.left - former.right < 8;
         })].map(element => element.outerHTML)
        """
    /// The folder for pictures of the pages, for people who want to look at them, too.
    private static let folder = ProcessInfo.processInfo.environment["GATEHOUSE_SCREENSHOTS"].map {
        URL(filePath: $0, directoryHint: .isDirectory)
    }

    let walk: ConsoleWalk

    /// Prepares the browser: axe-core runs in each page from now on, whatever the policy of the page forbids.
    init(_ walk: ConsoleWalk) async throws {
        self.walk = walk
        _ = try await walk.browser.call("Page.setBypassCSP", ["enabled": true])
        _ = try await walk.browser.call(
            "Page.addScriptToEvaluateOnNewDocument", ["source": .string(try await Chromium.axe())])
        try await walk.browser.setWindow(width: 1280, dark: false)
    }

    func inspect(_ name: String) async throws {
        let browser = walk.browser
        try await browser.expectNothing(of: Self.rules, "\(name), light")
        #expect(try await browser.evaluate(Self.gaps) == [], "\(name)")
        try await photograph("\(name)-light")
        try await browser.setWindow(width: 320, dark: true)
        try await browser.expectNothing(of: "{runOnly: ['color-contrast']}", "\(name), dark")
        #expect(try await browser.evaluate(Self.collisions) == [], "\(name)")
        if Self.folder != nil {
            try await browser.setWindow(width: 320, dark: false)
            try await photograph("\(name)-narrow")
            try await browser.setWindow(width: 1280, dark: true)
            try await photograph("\(name)-dark")
        }
        try await browser.setWindow(width: 1280, dark: false)
    }

    private func photograph(_ name: String) async throws {
        guard let folder = Self.folder else { return }
        let picture = try await walk.browser.call("Page.captureScreenshot", ["captureBeyondViewport": true])
        let data = try #require(picture["data"].string.flatMap { Data(base64Encoded: $0) })
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let words = name.split { !$0.isLetter && !$0.isNumber }
        try data.write(to: folder.appending(path: words.joined(separator: "-") + ".png"))
    }
}
