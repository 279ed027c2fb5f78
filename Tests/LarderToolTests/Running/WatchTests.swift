import Foundation
import LarderTestSupport
import Testing

struct `Watching` {
  let scene: Scene

  init() throws {
    scene = try Scene()
    try scene.put("v", "begin")
  }

  /// Runs `watch`, and lines of the shell once it watches.
  ///
  /// The begin of the watching is not visible from outside, so the script stores values until
  /// `watch` shows one.
  private func watch(_ options: String, beside lines: String) throws -> Outcome {
    try scene.shell(
      """
      seen() { while ! grep -q "$1" events; do sleep 0.05; done; }
      : > events; $larder watch c \(options) > events & watcher=$!
      while [ ! -s events ]; do printf x | $larder put c begin; sleep 0.05; done
      \(lines)
      wait $watcher; status=$?; cat events; exit $status
      """)
  }

  @Test func `a directory that is not there leads to --wait`() throws {
    let outcome = try scene.run("watch", "nothing")
    #expect(outcome.status == 3)
    #expect(outcome.talk == "larder: 'nothing' does not exist; --wait would wait for it\n")
  }

  @Test(.watched)
  func `each event is one object on a line, as many as were asked for`() throws {
    let outcome = try watch(
      "--json -n 12",
      beside: """
        printf 12345 | $larder put c new --expires never; seen stored
        touch -a "$($larder path c new)"; seen used
        touch -m "$($larder path c new)"; seen expired
        $larder expire c >&2; seen swept
        for i in 1 2 3 4 5 6 7 8 9 10 11 12; do printf x | $larder put c "more $i"; done
        """)
    #expect(outcome.status == 0)
    let lines = outcome.text.split(separator: "\n")
    #expect(lines.count == 12)
    let events = try lines.map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    #expect(events.allSatisfy { $0["schema"] as? Int == 1 && $0["time"] is String })
    let ofNew = events.filter { ($0["entry"] as? [String: Any])?["key"] as? String == "new" }
    #expect(ofNew.map { $0["event"] as? String } == ["stored", "used", "expired", "swept"])
    #expect(ofNew[0]["entries"] as? Int == 2 && ofNew[0]["bytes"] as? Int == 6)
  }

  @Test(.watched)
  func `--wait shows the store that makes the directory`() throws {
    let outcome = try scene.shell(
      """
      $larder watch new --wait -n 1 > events 2> talk & watcher=$!
      while ! grep -q waiting talk; do sleep 0.05; done
      printf x | $larder put new k
      wait $watcher; echo $?; cat talk
      """)
    #expect(outcome.text == "0\nlarder: waiting for 'new'\n")
  }

  @Test(.watched, arguments: ["watch c", "watch none --wait"])
  func `a reader that goes ends it without an event`(line: String) throws {
    let outcome = try scene.shell("{ $larder \(line); echo $? >&2; } | true")
    #expect(outcome.talk.hasSuffix("141\n"))
  }

  @Test(.watched)
  func `a pipe gets a line an event, and a directory that goes is status 3`() throws {
    let outcome = try watch(
      "", beside: #"printf x | $larder put c "$(printf 'a\033b')"; seen stored; rm -r c"#)
    #expect(outcome.status == 3 && outcome.talk.contains("the directory is gone"))
    #expect(outcome.text.contains("  stored           1 B  "))
    #expect(outcome.text.contains(#"a\u{1b}b"#) && !outcome.text.contains("\u{1b}"))
  }
}
