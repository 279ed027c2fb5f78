import Foundation
import Testing

@testable import LarderTool

struct `Help and version` {
  let scene: Scene

  init() throws { scene = try Scene() }

  @Test(arguments: Verb.all.map(\.name))
  func `every verb explains itself on stdout, whatever else is wrong`(name: String) throws {
    let outcome = try scene.run(name, "--help", "--nonsense", "x", "y", "z")
    #expect(outcome.status == 0 && outcome.talk.isEmpty)
    #expect(outcome.text.hasPrefix("larder \(name): ") && outcome.text.contains("--json"))
    #expect(try scene.run("help", name).text == outcome.text)
  }

  @Test func `the overview and the version are on stdout`() throws {
    let overview = try scene.run("--help")
    #expect(overview.status == 0 && overview.text == Verb.overview(width: 80, style: .plain))
    #expect(try scene.run("--version").text == Version.line + "\n")
    #expect(try scene.run("--version", "--json").json?["format"] as? Int == 1)
  }

  @Test func `the overview is the golden text`() throws {
    let text = try scene.run("--help").text
    #expect(
      text.hasPrefix(
        """
        larder: a disk cache you can read with ls

        Usage: larder VERB [OPTIONS] DIR ...

        Verbs:
          put          Store a value under a key, in place of the older one
          get          Write the value of a key to stdout or a file
          rm           Remove the values of keys
          path         Print the path of a key's file, whether it is there or not
        """))
  }
}
