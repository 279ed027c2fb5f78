import Foundation
import Testing

@testable import LarderTool

struct `Completions and the manual` {
  let scene: Scene

  init() throws { scene = try Scene() }

  @Test(
    arguments: [
      ("larder ver", "verify"), ("larder list --so", "--sort"),
      ("larder list --sort = ex", "expiry"),
      ("larder list --sort us", "used"), ("larder --json li", "list"), ("larder -n 5 to", "top"),
      ("larder completions f", "fish"), ("larder list su", "sub"), ("larder get sub k fi", ""),
      ("larder get sub k -o fi", "file"), ("larder put sub k fi", "file"),
      ("larder stamp sub x y fi", ""), ("larder diff sub su", "sub"),
      ("larder help ex", "expire"),
      ("larder list su fi", ""), ("larder man ''", ""), ("larder demo ''", ""),
      (#"larder list 'a\ d'"#, "a dir"), (#"larder list "\"a d""#, "a dir"),
      (#"larder list "'a d""#, "a dir"), (#"larder get sub k -o 'a\ f'"#, "a file"),
    ])
  func `bash completes verbs, options, their values and places`(line: String, reply: String) throws
  {
    _ = try scene.shell("mkdir sub 'a dir'; touch file 'a file'")
    let script = """
      source <("$larder" completions bash); compopt() { :; }
      COMP_WORDS=(\(line)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _larder; echo "${COMPREPLY[*]}"
      """
    try scene.write(script.utf8, to: "script")
    let outcome = try scene.shell("bash script")
    #expect(outcome.text == reply + "\n" && outcome.talk.isEmpty)
  }

  @Test(arguments: CompletionShell.allCases)
  func `every verb and option is completed`(shell: CompletionShell) {
    for verb in Verb.all {
      #expect(shell.script.contains(verb.name))
      for option in verb.options {
        let spelling = shell == .fish ? "-l \(option.name)" : "--\(option.name)"
        #expect(shell.script.contains(spelling))
      }
    }
    #expect(
      shell.script.unicodeScalars.allSatisfy { $0 == "\n" || (0x20..<0x7f).contains($0.value) })
  }

  @Test func `fish is told the places of a verb's operands`() {
    let lines = FishCompletion.script.split(separator: "\n")
    let places = lines.filter { $0.contains("__fish_complete_directories") }
    #expect(places.contains { $0.contains("'__larder_at get 0 0'") })
    #expect(places.contains { $0.contains("'__larder_at diff 1 1'") })
    #expect(places.allSatisfy { $0.contains("__larder_at") })
    #expect(!places.contains { $0.contains("__larder_at get 1") })
  }

  @Test func `a shell that is not known is status 2`() throws {
    let outcome = try scene.run("completions", "tcsh")
    #expect(outcome.status == 2 && outcome.talk.contains("say one of bash, zsh, fish"))
    #expect(try scene.run("completions").status == 2)
  }

  @Test func `both are JSON too`() throws {
    let script = try #require(try scene.run("completions", "zsh", "--json").json)
    #expect(script["schema"] as? Int == 1 && script["script"] as? String == ZshCompletion.script)
    let page = try #require(try scene.run("man", "--json").json)
    #expect(page["schema"] as? Int == 1 && page["page"] as? String == ManualPage.text)
  }

  @Test func `the manual names every verb, option and status, and has no stray request`() throws {
    let page = try scene.run("man").text
    for verb in Verb.all { #expect(page.contains(".SS \(Roff.escaped(verb.usage))\n")) }
    for option in Verb.vocabulary where option.name != "version" {
      #expect(page.contains(Roff.escaped(option.usage)))
    }
    let requests = [".TH", ".SH", ".SS", ".PP", ".TP", ".nf", ".fi", ".RS", ".RE", ".nh", ".ad"]
    for line in page.split(separator: "\n") where line.hasPrefix(".") || line.hasPrefix("'") {
      #expect(requests.contains(String(line.prefix(3))))
    }
    #expect(page.unicodeScalars.allSatisfy { $0 == "\n" || (0x20..<0x7f).contains($0.value) })
  }

  @Test(arguments: [
    (".x", "\\&.x"), ("'x", "\\(aqx"), ("a-b", "a\\-b"), ("a\\b", "a\\eb"),
    ("~^`", "\\(ti\\(ha\\(ga"),
  ])
  func `nothing in a text is taken for the formatter's`(text: String, escaped: String) {
    #expect(Roff.escaped(text) == escaped)
  }
}
