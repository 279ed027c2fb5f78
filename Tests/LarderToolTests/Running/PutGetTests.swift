import Foundation
import Testing

struct `Putting and getting` {
  let scene: Scene

  init() throws { scene = try Scene() }

  @Test(arguments: [
    [], [0], Array("hello\n".utf8), [0xff, 0xfe, 0], [UInt8](repeating: 7, count: 1 << 20),
  ])
  func `what was put comes back byte for byte`(value: [UInt8]) throws {
    #expect(try scene.run("put", "c", "k", input: Data(value)).status == 0)
    let got = try scene.run("get", "c", "k")
    #expect(got.status == 0 && got.output == Data(value) && got.talk.isEmpty)
    try scene.write(value, to: "file")
    #expect(try scene.run("put", "c", "k2", "file").status == 0)
    #expect(try scene.run("get", "c", "k2", "-o", "out").status == 0)
    #expect(try scene.read("out") == Data(value))
  }

  @Test(arguments: ["", " ", "-5", "a/b", "\u{e9}", "e\u{301}", "\u{1b}[2J", "x\n"])
  func `any key names its own file`(key: String) throws {
    try scene.put("v", "other")
    #expect(try scene.run("put", "c", "--", key, input: Data("v".utf8)).status == 0)
    #expect(try scene.run("get", "c", "--", key).text == "v")
    try scene.write(Array(key.utf8), to: "key")
    #expect(try scene.run("get", "c", "--key-file", "key").text == "v")
    let path = try scene.run("path", "c", "--", key).text
    let sum = try scene.shell("md5sum < key | cut -c 1-32").text
    #expect(path.hasSuffix("/c/" + sum))
  }

  @Test(arguments: [131_000, 1 << 20])
  func `a long key comes from a file`(count: Int) throws {
    try scene.write([UInt8](repeating: UInt8(ascii: "k"), count: count), to: "key")
    #expect(try scene.run("put", "c", "--key-file", "key", input: Data("v".utf8)).status == 0)
    #expect(try scene.run("get", "c", "--key-file", "key").text == "v")
    #expect(try scene.run("rm", "c", "--key-file", "key").status == 0)
    #expect(try scene.run("get", "c", "--key-file", "key").status == 1)
  }

  @Test func `a key of 131000 bytes and one that is not UTF-8 go through as arguments`() throws {
    let long = String(repeating: "k", count: 131_000)
    try scene.put("v", long)
    #expect(try scene.run("get", "c", long).text == "v")
    let line = #"k=$(printf 'a\377b'); echo v | $larder put c "$k" && $larder get c "$k""#
    #expect(try scene.shell(line).text == "v\n")
    let entries = try #require(
      try scene.run("list", "c", "--json").json?["entries"] as? [[String: Any]])
    #expect(entries.contains { $0["key_base64"] as? String == "Yf9i" && $0["key"] is NSNull })
  }

  @Test func `a miss says nothing on stdout and makes no file`() throws {
    try scene.put("v", "k")
    let miss = try scene.run("get", "c", "other", "-o", "out")
    #expect(miss.status == 1 && miss.output.isEmpty)
    #expect(miss.talk == "larder: no value: the key has none\n")
    #expect(try !scene.names(in: ".").contains("out"))
  }

  @Test func `an expired or damaged value is a miss that says why, and nothing is removed`() throws
  {
    try scene.put("v", "abc")
    _ = try scene.shell("touch c/900150983cd24fb0d6963f7d28e17f72")
    #expect(try scene.run("get", "c", "abc").talk == "larder: no value: it has expired\n")
    _ = try scene.shell("cd c; f=$(ls | grep ^9); printf x >> $f; touch -m -d '+1 day' $f")
    let damaged = try scene.run("get", "c", "abc")
    #expect(damaged.status == 1 && damaged.talk.contains("damaged"))
    #expect(try scene.names(in: "c").count == 1)
  }

  @Test func `getting leaves no trace, and with used it leaves one`() throws {
    try scene.put("v", "k")
    _ = try scene.shell("touch -a -d '-1 day' c/8*; touch -m -d '+1 hour' c/8*")
    let before = try scene.shell("stat -c '%x %y %z' c/8*").text
    let expiry = try scene.shell("stat -c %y c/8*").text
    #expect(try scene.run("get", "c", "k").text == "v")
    #expect(try scene.shell("stat -c '%x %y %z' c/8*").text == before)
    #expect(try scene.run("get", "c", "k", "--used").text == "v")
    let age = try scene.shell("echo $(( $(date +%s) - $(stat -c %X c/8*) ))").text
    #expect((Int(age.dropLast()) ?? .max) < 3600)
    #expect(try scene.shell("stat -c %y c/8*").text == expiry)
    // The file of a key that is kept as a digest does not tell whose use it is.
    let long = String(repeating: "k", count: 2_100)
    try scene.put("v", long)
    let name = try scene.shell("basename $($larder path c \(long))").text.dropLast()
    let refused = try scene.run("get", "c", String(name), "--used")
    #expect(refused.status == 2 && refused.talk.contains("give KEY"))
    _ = try scene.run("rm", "c", long)
    // What a program would remove at a read stays for the remedies that the message names.
    _ = try scene.shell("f=$($larder path c k); printf x >> $f; touch -m -d '+1 hour' $f")
    let damaged = try scene.run("get", "c", "k", "--used")
    #expect(damaged.status == 1 && damaged.talk.contains("the file is damaged"))
    #expect(try scene.names(in: "c").count == 1)
  }

  @Test func `what takes the place of a file is whole, and what is no file is written in place`()
    throws
  {
    try scene.put("new", "k")
    let line = """
      echo old > out; chmod 640 out; ln -s out link; ln -s made dangling
      $larder get c k -o link && $larder get c k -o dangling && $larder get c k -o /dev/null
      stat -c %a out; cat out made; test -L link && test -c /dev/null && echo kept
      """
    #expect(try scene.shell(line).text == "640\nnewnewkept\n")
    #expect(try scene.run("get", "c", "k", "-o", "c").status == 4)
    #expect(try scene.run("get", "c", "k", "-o", "none/out").status == 4)
    #expect(try scene.names(in: ".") == ["c", "dangling", "link", "made", "out"])
  }

  @Test func `what takes the place of a file has no more rights than those to read and run it`()
    throws
  {
    try scene.put("new", "k")
    let line = "touch out; chmod 6755 out; $larder get c k -o out; stat -c %a out; cat out"
    #expect(try scene.shell(line).text == "755\nnew")
  }

  @Test(arguments: ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/dev/stderr", "/dev/fd/3"])
  func `an output that is named as an open descriptor is written to, and not replaced`(
    path: String
  ) throws {
    try scene.put("new", "k")
    let isOutput = path.hasSuffix("out") || path.hasSuffix("1")
    let redirection = isOutput ? ">>" : path.hasSuffix("3") ? "3>>" : "2>>"
    for verb in ["get c k", "report c"] {
      let line = """
        echo old > log; chmod 640 log; $larder \(verb) -o \(path) \(redirection) log
        stat -c %a log; head -c 7 log
        """
      #expect(try scene.shell(line).text == "640\nold\n\(verb == "report c" ? "<!d" : "new")")
      if isOutput {
        let refused = try scene.shell("$larder \(verb) --json -o \(path)")
        #expect(refused.status == 2 && refused.talk.contains("--json needs -o FILE"))
      }
    }
  }

  @Test(arguments: ["log", "link", "/proc/$$/fd/1", "/proc/$$/fd/2"])
  func `a file that is an output already is written to, and not replaced`(path: String) throws {
    try scene.put("new", "k")
    _ = try scene.shell("ln -s /dev/stdout link")
    for verb in ["get c k", "report c"] {
      let line = """
        echo old > log; exec 3>&1 >> log 2>&1; $larder \(verb) -o \(path); echo more
        { head -c 7 log; tail -c 5 log; } >&3
        """
      let outcome = try scene.shell(line)
      #expect(outcome.text == "old\n\(verb == "report c" ? "<!d" : "new")more\n")
    }
    #expect(try scene.names(in: ".") == ["c", "link", "log"])
  }

  @Test(arguments: 3...9)
  func `a descriptor that the command was not given is no output`(number: Int) throws {
    for value in ["v", ""] {
      try scene.put(value, "k")
      let line = "$larder get c k --used -o /dev/fd/\(number) \(number)>&-"
      let outcome = try scene.shell(line)
      #expect(outcome.status == 4 && outcome.talk.contains("/dev/fd/\(number)"))
      #expect(try scene.run("get", "c", "k").text == value)
    }
  }

  @Test func `a signal removes a copy that is not whole`() throws {
    let line = """
      head -c 67108864 /dev/zero | $larder put c big; mkdir to; $larder get c big -o to/out &
      until [ -n "$(ls -A to)" ]; do kill -0 $! 2>/dev/null || break; done
      kill $!; wait $!; ls -A to
      """
    #expect(try ["", "out\n"].contains(scene.shell(line).text))
  }

  @Test func `a value that has expired before it is stored is rejected with the reason`() throws {
    try scene.put("old", "k")
    let outcome = try scene.run("put", "c", "k", "--expires", "0")
    #expect(outcome.status == 1 && outcome.output.isEmpty)
    #expect(outcome.talk.contains("expired already"))
    #expect(try scene.run("get", "c", "k").status == 1)
  }

  @Test func `what cannot be read leaves the older value alone`() throws {
    try scene.put("old", "k")
    #expect(try scene.run("put", "c", "k", "missing").status == 4)
    #expect(try scene.run("put", "c", "k", ".").status == 4)
    #expect(try scene.run("put", "new", "k", "missing").status == 4)
    #expect(try scene.run("get", "c", "k").text == "old")
    #expect(try scene.names(in: ".") == ["c"])
  }

  @Test func `JSON says what happened`() throws {
    let stored = try #require(
      try scene.run(["put", "c", "k", "--json"], input: Data("abc".utf8)).json)
    #expect(stored["schema"] as? Int == 1 && stored["stored"] as? Bool == true)
    #expect(stored["size"] as? Int == 3)
    let got = try #require(try scene.run("get", "c", "k", "-o", "out", "--json").json)
    #expect(got["found"] as? Bool == true && got["size"] as? Int == 3)
    let missed = try scene.run("get", "c", "x", "-o", "out", "--json")
    #expect(missed.status == 1)
    #expect(try missed.json?["reason"] as? String == "absent")
    let unnamed = try scene.run("get", "c", "ffff1", "--name", "-o", "out", "--json")
    #expect(unnamed.status == 1 && unnamed.output == missed.output)
    #expect(unnamed.talk.contains("no value: no name in DIR begins with 'ffff1'"))
  }

  @Test(arguments: [("2770", "660"), ("700", "600"), ("750", "600")])
  func `a value that is put is its group's if the directory is`(mode: String, file: String) throws {
    _ = try scene.shell("mkdir -m \(mode) c; echo v | $larder put c k")
    #expect(try scene.shell("stat -c %a c/8ce4b16b22b58894aa86c421e8759df3").text == "\(file)\n")
  }

  @Test func `another program's files that are named by an MD5 are no cache to put into`() throws {
    let thumbnail = "900150983cd24fb0d6963f7d28e17f72.png"
    _ = try scene.shell("mkdir c; echo thumbnail > c/\(thumbnail)")
    let refused = try scene.run("put", "c", "abc", "--ext", "png")
    #expect(refused.status == 3 && refused.talk.contains("larder put --adopt takes it"))
    #expect(try scene.names(in: "c") == [thumbnail])
    #expect(try scene.read("c/\(thumbnail)") == Data("thumbnail\n".utf8))
    #expect(try scene.run("put", "c", "k", "--adopt").status == 0)
    // One entry does not vouch for the others.
    #expect(try scene.run("put", "c", "k").status == 3)
    #expect(try scene.run("expire", "c").status == 3)
    #expect(try scene.run("clear", "c", "--force").status == 3)
    #expect(try scene.read("c/\(thumbnail)") == Data("thumbnail\n".utf8))
    // A full disk would take the values of a fixture, which all look expired in a checkout.
    _ = try scene.run("record", "f", "abc", input: Data("hello".utf8))
    for line in [["put", "f", "k"], ["put", "f", "k", "--adopt"]] {
      let fixture = try scene.run(line)
      #expect(fixture.status == 2 && fixture.talk.contains("larder record"))
    }
  }

  @Test(arguments: ["1777", "777", "703"])
  func `where others may write, the first cure is a directory of one's own`(mode: String) throws {
    _ = try scene.shell("mkdir c e; echo x > c/other; chmod \(mode) c e")
    for line in [["put", "c", "k"], ["put", "e", "k"], ["record", "c", "k"]] {
      let outcome = try scene.run(line)
      #expect(outcome.talk.contains("; use a directory of your own"), "\(line)")
      #expect(!outcome.talk.contains("--adopt"), "\(line)")
      let json = try scene.run(line + ["--json"]).json
      #expect((json?["cure"] as? String)?.hasPrefix("use a directory of your own") == true)
    }
    // What the older cure led to.
    #expect(try scene.run("put", "c", "k", "--adopt").talk.contains("can write to it"))
    #expect(try scene.names(in: "c") == ["other"])
  }

  @Test(arguments: ["<&-", "</"])
  func `an input that cannot be read leaves the older value`(input: String) throws {
    try scene.put("old", "k")
    #expect(try scene.shell("$larder put c k \(input)").status == 4)
    #expect(try scene.run("get", "c", "k").text == "old")
  }
}
