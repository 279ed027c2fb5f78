import Foundation
import Testing

/// The first C compiler in the PATH; a Swift toolchain brings clang.
private let compiler = ["cc", "clang"].first(where: Program.has)

@Suite(.enabled("no C compiler is in the PATH") { compiler != nil })
struct `The compiler cache` {
  private let scene: Scene
  private let cc: String

  private static let sources = [
    "sort.h": "int compare(const void *, const void *);\nvoid report(const int *, int);\n",
    "sort.c": """
    #include <stdlib.h>
    #include "sort.h"
    int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
    """,
    "report.c": """
    #include <stdio.h>
    #include "sort.h"
    #warning the report is in one line
    void report(const int *numbers, int count) {
      for (int i = 0; i < count; i++) printf("%d ", numbers[i]);
      printf("\\n");
    }
    """,
    "main.c": """
    #include <stdlib.h>
    #include "sort.h"
    int main(void) {
      int numbers[] = {5, 3, 9, 1};
      qsort(numbers, 4, sizeof numbers[0], compare);
      report(numbers, 4);
      return 0;
    }
    """,
  ]
  private static let units = ["sort", "report", "main"]

  init() throws {
    scene = try Scene()
    cc = try #require(compiler)
    for (name, text) in Self.sources { try scene.write((text + "\n").utf8, to: name) }
  }
}

extension `The compiler cache` {
  private func compile(_ unit: String, _ options: String...) throws -> Program.Outcome {
    try Program("CompilerCache").run(
      [cc, "-c", "\(unit).c", "-o", "\(unit).o"] + options, in: scene,
      environment: ["COMPILER_CACHE": scene.root.path + "/cache", "COMPILER_CACHE_SAY": "1"])
  }

  @Test func `gives the second build the compiler's own objects, warnings and all`() throws {
    var objects: [String: Data] = [:]
    var warnings: [String: String] = [:]
    for unit in Self.units {
      let outcome = try compile(unit)
      #expect(outcome.status == 0 && outcome.talk.hasSuffix("compiler-cache: compiled\n"))
      objects[unit] = try scene.read("\(unit).o")
      warnings[unit] = outcome.talk.replacing("compiled", with: "from the cache")
      try scene.remove("\(unit).o")
    }
    for unit in Self.units {
      let outcome = try compile(unit)
      #expect(outcome.status == 0 && outcome.talk == warnings[unit])
      #expect(try scene.read("\(unit).o") == objects[unit])
    }
    #expect(warnings["report"]?.contains("the report is in one line") == true)
    let objectNames = Self.units.map { "\($0).o" }
    #expect(try Program.run(cc, objectNames + ["-o", "sorted"], in: scene).status == 0)
    #expect(try Program.run("./sorted", [], in: scene).output == "1 3 5 9 \n")
  }

  @Test func `compiles again when a header, an option or the source has changed`() throws {
    #expect(try compile("sort").talk.hasSuffix("compiled\n"))
    #expect(try compile("sort", "-O2").talk.hasSuffix("compiled\n"))
    #expect(try compile("sort").talk.hasSuffix("from the cache\n"))
    try scene.write("int compare(const void *, const void *);\n".utf8, to: "sort.h")
    #expect(try compile("sort").talk.hasSuffix("compiled\n"))
    try scene.write((Self.sources["sort.c"]! + "\nint more;\n").utf8, to: "sort.c")
    #expect(try compile("sort").talk.hasSuffix("compiled\n"))
    #expect(try compile("sort").talk.hasSuffix("from the cache\n"))
  }

  @Test func `tells sources apart that are not UTF-8`() throws {
    let head = Array("const char text[] = \"".utf8)
    var objects: [Data] = []
    for byte: UInt8 in [0xE8, 0xE9] {
      try scene.write(head + [byte] + Array("\";\n".utf8), to: "sort.c")
      #expect(try compile("sort").talk.hasSuffix("compiled\n"))
      objects.append(try scene.read("sort.o"))
    }
    #expect(objects[0] != objects[1])
  }

  @Test(arguments: [
    #"asm(".section .rodata\nblob: .incbin \"data\"\n");"#,
    #"asm(".section .rodata\nblob: .inc" "bin \"data\"\n");"#,
    #"__asm__ __volatile__(".section .rodata\nblob: \x2eincbin \"data\"\n.previous\n");"#,
    #"__asm(".macro m x\n.\\x\\()bin \"data\"\n.endm\n.section .rodata\nm inc\n");"#,
  ])
  func `does not cache inline assembly, which can read a file`(assembly: String) throws {
    let isStatement = assembly.contains("volatile")
    let source = isStatement ? "void f(void) { \(assembly) }\n" : assembly + "\nint x;\n"
    try scene.write(source.utf8, to: "sort.c")
    for word in ["first", "other"] {
      try scene.write(word.utf8, to: "data")
      #expect(try compile("sort").status == 0)
      #expect(try scene.read("sort.o").range(of: Data(word.utf8)) != nil)
    }
  }

  @Test(arguments: [
    #"int f(int) __asm__("" "g");"#, "int plasma, asmara, my_asm1;", "extern int a asm ( \"b\" ) ;",
  ])
  func `caches what only gives symbols a name`(line: String) throws {
    try scene.write("\(line)\n".utf8, to: "sort.c")
    #expect(try compile("sort").talk.hasSuffix("compiled\n"))
    #expect(try compile("sort").talk.hasSuffix("from the cache\n"))
  }

  @Test func `does not cache what reads other files after preprocessing`() throws {
    try scene.write("enum e { a }; int size = sizeof(enum e);\n".utf8, to: "sort.c")
    var objects: [Data] = []
    for flag in ["-O0", "-fshort-enums"] {
      try scene.write(flag.utf8, to: "flags")
      #expect(try compile("sort", "@flags").talk.isEmpty)
      objects.append(try scene.read("sort.o"))
    }
    #expect(objects[0] != objects[1])
    // An object from the cache would leave an older list of dependencies.
    for _ in 1...2 {
      #expect(try compile("sort", "-MD").talk.isEmpty)
      try scene.remove("sort.d")
    }
  }

  @Test func `keeps nothing of a source that does not compile, and passes other uses on`() throws {
    try scene.write("int broken(".utf8, to: "sort.c")
    for _ in 1...2 {
      let outcome = try compile("sort")
      #expect(outcome.status != 0 && outcome.talk.contains("error"))
    }
    let program = Program("CompilerCache")
    #expect(try program.run([cc, "--version"], in: scene).output.isEmpty == false)
  }
}
