import Foundation
import Testing

struct `Directories that are no cache` {
  let scene: Scene

  init() throws { scene = try Scene() }

  /// The verbs that work on a directory, with valid arguments.
  static let lines: [[String]] = [
    ["put", "d", "k"], ["get", "d", "k"], ["rm", "d", "k"], ["path", "d", "k"], ["list", "d"],
    ["info", "d"], ["verify", "d"], ["verify", "d", "--repair"], ["expire", "d"],
    ["trim", "d", "--to", "1"], ["trim", "d", "--count", "0", "--dry-run"],
    ["clear", "d", "--force"], ["clear", "d", "--dry-run"], ["stamp", "d"], ["top", "d"],
    ["why", "d", "k"], ["diff", "d", "d"], ["report", "d"],
  ]

  @Test(arguments: lines.dropFirst())
  func `a missing directory is status 3, and only put makes it`(line: [String]) throws {
    let outcome = try scene.run(line)
    #expect(outcome.status == 3 && outcome.output.isEmpty)
    #expect(outcome.talk == "larder: 'd' does not exist; larder put would make it\n")
    #expect(try scene.names(in: ".").isEmpty)
    #expect(try scene.run("put", "d/deep/er", "k").status == 0)
    #expect(try scene.shell("stat -c %a d d/deep d/deep/er").text == "700\n700\n700\n")
  }

  @Test(arguments: lines)
  func `a file is status 3`(line: [String]) throws {
    try scene.write([1], to: "d")
    let outcome = try scene.run(line)
    #expect(outcome.status == 3 && outcome.output.isEmpty)
    #expect(outcome.talk == "larder: 'd' is no directory; name the directory of a cache\n")
  }

  @Test(arguments: lines)
  func `a directory of other things is status 3, and stays as it is`(line: [String]) throws {
    _ = try scene.shell("mkdir -m 700 d; echo other > d/CACHEDIR.TAG; echo x > d/readme")
    let outcome = try scene.run(line)
    #expect(outcome.status == 3 && outcome.output.isEmpty)
    // Only a verb that writes may offer to take the directory.
    let cure = line[0] == "put" ? "larder put --adopt takes it" : "name the directory of a cache"
    #expect(outcome.talk.contains("holds only other things and no cache; \(cure)"))
    #expect(try scene.names(in: "d") == ["readme"])
    #expect(try scene.run("put", "--adopt", "d", "k").status == 0)
    #expect(try scene.run("info", "d").status == 0)
    #expect(try scene.read("d/CACHEDIR.TAG") == Data("other\n".utf8))
  }

  @Test func `a directory of other things is left with the names of the caches in it`() throws {
    _ = try scene.shell("mkdir -m 700 home")
    for name in ["e", "d", "b", "c"] { try scene.put("v", "k", in: "home/\(name)") }
    _ = try scene.shell("mkdir -m 700 home/a home/none; echo x > home/none/x; chmod 0 home/b")
    let isRoot = try scene.shell("id -u").text == "0\n"
    let listed = isRoot ? "'home/b', 'home/c', 'home/d'" : "'home/c', 'home/d', 'home/e'"
    let talk = try scene.run("list", "home").talk
    #expect(talk.hasSuffix("no cache; name the directory of a cache, such as \(listed)\n"))
    _ = try scene.shell("chmod 700 home/b")
  }

  @Test(arguments: lines.dropFirst())
  func `an empty directory is an empty cache and stays empty`(line: [String]) throws {
    _ = try scene.shell("mkdir -m 700 d")
    let isMiss = ["get", "rm", "why"].contains(line[0])
    #expect(try scene.run(line).status == (isMiss ? 1 : 0))
    #expect(try scene.shell("ls -A d").text.isEmpty)
  }

  @Test(arguments: lines)
  func `an unreadable directory is status 4`(line: [String]) throws {
    _ = try scene.shell("mkdir -m 000 d")
    let isRoot = try scene.shell("id -u").text == "0\n"
    guard !isRoot else {
      // Root can read everything, so another user runs the command.
      let words = line.map { "'\($0)'" }.joined(separator: " ")
      let outcome = try scene.shell(
        """
        chmod 755 . && cp $larder ./program && chmod 755 program
        other() { setpriv --reuid 65534 --regid 65534 --clear-groups ./program "$@" </dev/null; }
        other --version >/dev/null 2>&1 || exit 77
        other \(words)
        """)
      // Where no program runs from here, or the toolchain is root's alone.
      if outcome.status == 77 { return }
      #expect(outcome.status == 4 && outcome.talk.contains("cannot be opened"))
      return
    }
    let outcome = try scene.run(line)
    #expect(outcome.status == 4 && outcome.talk.contains("cannot be opened"))
  }

  @Test func `a link to nothing is told from a directory that is missing`() throws {
    _ = try scene.shell("ln -s nowhere d")
    for line in Self.lines + [["record", "d", "k"], ["fixture", "check", "d"]] {
      let outcome = try scene.run(line)
      #expect(outcome.status == 3 && outcome.talk.contains("'d' is a link to nothing"), "\(line)")
    }
    #expect(try scene.names(in: ".") == ["d"])
  }

  @Test func `a directory that others can write to takes no values`() throws {
    _ = try scene.shell("mkdir d; chmod 777 d")
    let outcome = try scene.run("put", "d", "k")
    #expect(outcome.status == 4 && outcome.talk.contains("chmod go-w"))
    #expect(try scene.names(in: "d").isEmpty)
    #expect(try scene.run("info", "d").talk.contains("files planted there would be served"))
  }

  @Test func `a path that is not UTF-8 is status 2`() throws {
    let outcome = try scene.shell(#"$larder list "$(printf 'a\377')""#)
    #expect(outcome.status == 2)
    #expect(outcome.talk.contains(#"DIR 'a\xff' is not UTF-8"#))
    // Reached relatively, it can be used, but no text is its path.
    let line = #"d=$(printf 'a\377'); mkdir -p "$d/c"; cd "$d"; echo v | $larder put c k; "#
    #expect(try scene.shell(line + "$larder get c k").text == "v\n")
    let path = try scene.shell(line + "$larder path c k")
    #expect(path.status == 2 && path.text.isEmpty && path.talk.contains("is not UTF-8"))
    // This character may be in a name.
    try scene.put("v", "k", in: "\u{fffd}")
    #expect(try scene.run("path", "\u{fffd}", "k").text.contains("/\u{fffd}/"))
  }
}
