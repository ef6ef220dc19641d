import Testing

@testable import HTTPAPI

struct MetricsPageTests {
    @Test func writesLabelsInPrometheusForm() {
        var page = MetricsPage()
        page.add(
            .init("provider_up", help: "1 while it answers.") {
                [.init(1, labels: [("application", "a"), ("provider", "b\"c\\d\ne")]), .init(0)]
            })
        page.add(.init("done_total", type: "counter", help: "Done.") { 2 })
        #expect(
            page.text == """
                # HELP gatehouse_provider_up 1 while it answers.
                # TYPE gatehouse_provider_up gauge
                gatehouse_provider_up{application="a",provider="b\\"c\\\\d\\ne"} 1.0
                gatehouse_provider_up 0.0
                # HELP gatehouse_done_total Done.
                # TYPE gatehouse_done_total counter
                gatehouse_done_total 2.0

                """)
    }

    @Test func countsHistogramsUpwards() {
        var page = MetricsPage()
        page.add(
            .init(
                "wait_seconds", help: "Waits.",
                histogram: { .init(bounds: [0.5, 2], buckets: [3, 1], count: 5, sum: 9.5) }))
        #expect(
            page.text == """
                # HELP gatehouse_wait_seconds Waits.
                # TYPE gatehouse_wait_seconds histogram
                gatehouse_wait_seconds_bucket{le="0.5"} 3.0
                gatehouse_wait_seconds_bucket{le="2.0"} 4.0
                gatehouse_wait_seconds_bucket{le="+Inf"} 5.0
                gatehouse_wait_seconds_sum 9.5
                gatehouse_wait_seconds_count 5.0

                """)
    }
}
