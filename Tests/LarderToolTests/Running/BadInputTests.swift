import Foundation
import Testing

struct `Command lines that make no sense` {
  let scene: Scene

  init() throws { scene = try Scene() }

  @Test(
    arguments: [
      ([], "a verb is missing"),
      (["lst", "c"], "there is no verb 'lst'; did you mean list?"),
      (["put", "c"], "KEY is missing"),
      (["list", ""], "DIR is empty"),
      (["trim", "c"], "exactly one of --to, --count, --age is needed"),
      (["trim", "c", "--to", "12x"], "'12x' does not end in a unit of size"),
      (["trim", "c", "--to", "-1"], "'-1' is negative"),
      (["trim", "c", "--count", "-1"], "'-1' is negative"),
      (["trim", "c", "--count", "1.5"], "'1.5' is not a whole number"),
      (["trim", "c", "--age", "soon"], "'soon' is not a number"),
      (["trim", "c", "--age", "-1d"], "'-1d' is negative"),
      (["put", "c", "k", "--expires", "-1"], "'-1' is negative"),
      (["put", "c", "k", "--expires", "7 parsecs"], "does not end in a unit of time"),
      (["put", "c", "k", "--ext", "a.b"], "'a.b' is no extension"),
      (["list", "c", "--sort", "age"], "'age' is not a choice"),
      (["list", "c", "-n", "-3"], "'-3' is negative"),
      (["clear", "c"], "needs --force"),
      (["get", "c", "k", "--json"], "--json needs -o FILE"),
      (["put", "c", "--key-file", "-"], "only one of key, value and data can come from stdin"),
      (["record", "c", "a", "-", "b", "-"], "only one of key, value and data can come from stdin"),
      (["record", "c", "--key-file", "-", "f", "b", "-"], "can come from stdin"),
      (["stamp", "c", "../c/x"], "is no name of an entry"),
      (["stamp", "c", "CACHEDIR.TAG"], "is no name of an entry"),
      (["info", "c", "--repair"], "there is no option --repair here"),
    ] as [([String], String)])
  func `a mistake is status 2 with a sentence, and nothing is lost`(
    line: [String], sentence: String
  ) throws {
    try scene.put("v", "k")
    let outcome = try scene.run(line)
    #expect(outcome.status == 2 && outcome.output.isEmpty == !line.contains("--json"))
    #expect(outcome.talk.contains(sentence) && outcome.talk.contains("See: larder"))
    #expect(try scene.run("get", "c", "k").text == "v")
  }

  @Test(arguments: [["--to", "0"], ["--to", "0.5"], ["--count", "0"], ["--age", "0s"]])
  func `a limit of 0 empties the cache, so it needs --force`(limit: [String]) throws {
    for key in ["a", "b", "d"] { try scene.put("v", key) }
    let line = ["trim", "c"] + limit
    let refused = try scene.run(line)
    #expect(refused.status == 2 && refused.talk.contains("--force"))
    #expect(try scene.run(line + ["--dry-run"]).text == "would remove 3 entries, 3 B\n")
    #expect(try scene.names(in: "c").count == 3)
    #expect(try scene.run(line + ["--force"]).text == "removed 3 entries, 3 B\n")
    #expect(try scene.names(in: "c").isEmpty)
  }

  @Test func `a stream that nobody reads ends the command quietly`() throws {
    try scene.write([UInt8](repeating: 65, count: 1 << 20), to: "big")
    #expect(try scene.run("put", "c", "k", "big").status == 0)
    let line = "set -o pipefail; $larder get c k | head -c 1; echo; echo $?"
    let outcome = try scene.shell("bash -c '\(line)'; { $larder get c k; echo $? >&2; } | true")
    #expect(outcome.text.hasPrefix("A\n") && outcome.talk == "141\n")
  }

  @Test func `a full or closed stdout is status 4`() throws {
    try scene.put("v", "k")
    for line in ["get c k", "list c", "info c --json", "--help"] {
      let full = try scene.shell("$larder \(line) >/dev/full")
      #expect(full.status == 4 && full.talk.contains("No space left"))
      let closed = try scene.shell("$larder \(line) >&-")
      #expect(closed.status == 4 && closed.talk.contains("Bad file descriptor"))
    }
    #expect(try scene.shell("$larder put c k2 --json <&- >&- 2>&-").status == 4)
    #expect(try scene.run("verify", "c").status == 0)
  }
}
