import Testing

@testable import LarderSystem
@testable import LarderTool

struct BarTests {
  static let blocks = TextStyle(usesEscapes: false, usesBlocks: true)

  @Test(
    arguments: [
      (0, 10, ""), (10, 10, "\u{2588}\u{2588}\u{2588}\u{2588}"), (5, 10, "\u{2588}\u{2588}"),
      (1, 1000, "\u{258f}"), (3, 8, "\u{2588}\u{258c}"),
      (20, 10, "\u{2588}\u{2588}\u{2588}\u{2588}"),
      (1, 0, ""), (.max, .max, "\u{2588}\u{2588}\u{2588}\u{2588}"),
    ] as [(UInt64, UInt64, String)])
  func `a bar is exact to an eighth of a column, and what is there shows`(
    part: UInt64, whole: UInt64, bar: String
  ) {
    #expect(Bar.text(part, of: whole, width: 4, style: Self.blocks) == bar)
  }

  @Test func `without blocks a bar is ASCII`() {
    #expect(Bar.text(5, of: 10, width: 4, style: .plain) == "##")
    #expect(Bar.text(1, of: 1000, width: 4, style: .plain) == "#")
    #expect(Bar.text(1, of: 1, width: 0, style: .plain) == "")
  }

  @Test(arguments: [
    (0, "0"), (999, "999"), (1000, "1,000"), (-1_234_567, "-1,234,567"),
    (Int.max, "9,223,372,036,854,775,807"),
  ])
  func `numbers are grouped by three`(number: Int, text: String) {
    #expect(number.grouped == text)
  }

  @Test func `blocks stand beside each other where they fit`() {
    let blocks = [["aa", "b"], ["\u{1b}[1mc\u{1b}[0m", "dd", "e"]]
    #expect(
      TextBlocks.arranged(blocks, width: 8) == ["aa    \u{1b}[1mc\u{1b}[0m", "b     dd", "      e"])
    let below = ["aa", "b", "", "\u{1b}[1mc\u{1b}[0m", "dd", "e"]
    #expect(TextBlocks.arranged(blocks, width: 7) == below)
    #expect(TextBlocks.arranged(blocks, width: nil) == below)
    #expect(TextBlocks.arranged([], width: 80).isEmpty)
  }

  @Test(arguments: [20, 40, 80, 200])
  func `a line of progress fits its terminal`(width: Int) {
    let line = ProgressLine.text("checked", 500, 2000, elapsed: .seconds(3), width: width)
    #expect(line.displayWidth <= width && line.hasPrefix("checked 500 of 2,"))
    if width >= 80 { #expect(line.hasSuffix("25 %, 167/s, 9 s left")) }
    #expect(!ProgressLine.text("checked", 0, 0, elapsed: .zero, width: width).isEmpty)
    let walk = ProgressLine.text("checked", 51_200, nil, elapsed: .seconds(4), width: width)
    #expect(walk.displayWidth <= width)
    let start = ProgressLine.text("checked", 0, nil, elapsed: .seconds(4), width: width)
    #expect(start.displayWidth <= width && start.hasPrefix("reading the dir"))
    if width >= 80 { #expect(start == "reading the directory  4 s") }
    if width >= 80 { #expect(walk == "found 51,200 names  12,800/s, 4 s") }
  }

  @Test(arguments: [
    (Duration.seconds(3), 500, "25 %, 167/s, 9 s left"),
    (.milliseconds(500), 1500, "75 %, 3,000/s, 0 s left"),
    (.seconds(600), 100, "5 %, 0.2/s, 190 min left"),
    (.seconds(40), 0, "0 %, 0.0/s, 40 s"),
  ])
  func `a line of progress has the speed and the time that is left`(
    elapsed: Duration, done: Int, tail: String
  ) {
    let line = ProgressLine.text("checked", done, 2000, elapsed: elapsed, width: 100)
    #expect(line.hasSuffix("  " + tail))
  }

  @Test func `progress never goes back, and begins anew when all names are found`() {
    let start = MonotonicTime.now
    var state = ProgressLine.State(at: start)
    state.update(512, nil, at: start)
    state.update(900, nil, at: start)
    #expect(state.done == 900 && state.total == nil && state.start == start)
    let later = start.advanced(by: .seconds(60))
    state.update(1, 900, at: later)
    #expect(state.done == 1 && state.total == 900 && state.start == later)
    // Of the helper thread, whose call comes late.
    state.update(3, 900, at: later)
    state.update(2, 900, at: later)
    state.update(900, nil, at: later)
    #expect(state.done == 3 && state.total == 900)
  }
}
