import Foundation
import Larder

/// A cache of object files, like ccache: `CompilerCache cc -c FILE.c -o FILE.o …`.
///
/// The key contains the compiler's version, its options and the preprocessed source, byte for byte.
/// What can read another file when it compiles, or write one beside the object, is passed on and
/// not cached: options other than common ones, and sources with inline assembly, whose `.incbin`
/// can be spelled in any number of ways. Only assembly of plain names stays, which the headers of
/// libc are full of. Any number of compilations can run at once, as under `make -j`. The directory
/// is `$COMPILER_CACHE`, or `~/.cache/compiler-cache`. With `COMPILER_CACHE_SAY=1`, a line on
/// stderr tells what happened.
@main
struct CompilerCache {
  let cache: DiskCache
  let compiler: String
  let options: [String]

  static func main() throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard let compiler = arguments.first else { print("usage: CompilerCache CC OPTIONS…"); exit(2) }
    let options = Array(arguments.dropFirst())
    guard let output = output(of: options) else {
      // Not cached: linking, several files, output to stdout, options of unknown effect.
      exit(try run(compiler, options, showing: true).status)
    }
    let configuration = DiskCache.Configuration(sizeLimit: 5 << 30)
    do {
      let cache = try DiskCache(directory: directory, configuration: configuration)
      let status = try CompilerCache(cache: cache, compiler: compiler, options: options)
        .compile(to: output)
      try? cache.close()
      exit(status)
    } catch is CacheError {
      // Without a cache the compiler does the work.
      exit(try run(compiler, options, showing: true).status)
    }
  }

  private static var directory: String {
    let environment = ProcessInfo.processInfo.environment
    return environment["COMPILER_CACHE"]
      ?? "\(environment["HOME"] ?? "/tmp")/.cache/compiler-cache"
  }

  /// Returns the path of the object file; nil unless the options compile one C file and do nothing
  /// else that matters, such as to read `@FILE` or a plugin, or to write dependencies.
  private static func output(of options: [String]) -> String? {
    let harmless = ["-D", "-U", "-I", "-O", "-std=", "-pedantic", "-m"]
    var (sources, output) = (0, String?.none)
    var rest = options[...]
    while let option = rest.popFirst() {
      switch option {
      case "-c", "-g", "-w", "-fPIC", "-fPIE", "-fshort-enums", "-pipe": break
      case "-o": output = rest.popFirst()
      case "-D", "-U", "-I", "-include", "-isystem": _ = rest.popFirst()
      // Of each machine something else, which the preprocessed source does not tell.
      case _ where option.hasSuffix("=native"): return nil
      case _ where option.hasPrefix("-W") && !option.contains(","): break
      case _ where harmless.contains(where: option.hasPrefix): break
      case _ where !option.hasPrefix("-") && !option.hasPrefix("@") && option.hasSuffix(".c"):
        sources += 1
      default: return nil
      }
    }
    return sources == 1 && options.contains("-c") ? output : nil
  }

  /// Takes the object from the cache, or compiles it and stores it with the warnings.
  private func compile(to output: String) throws -> Int32 {
    guard let key = try key(output) else {
      return try Self.run(compiler, options, showing: true).status
    }
    if let hit = try cache.read(forKey: key) {
      try Data(hit.value).write(to: URL(filePath: output))
      try FileHandle.standardError.write(contentsOf: Data(hit.extendedData))
      say("from the cache")
      return 0
    }
    let (status, _, warnings) = try Self.run(compiler, options, showing: true)
    // Warnings are stored and shown with the object. A file with longer warnings is not cached.
    guard status == 0, warnings.count <= 1024 else { return status }
    let object = try Data(contentsOf: URL(filePath: output))
    do {
      try cache.store(
        Array(object), forKey: key, expiration: .days(30), extendedData: Array(warnings))
      say("compiled")
    } catch {
      say("compiled and not stored: \(error)")
    }
    return 0
  }

  /// Directives, mostly of the assembler, by which the compiler reads a file after preprocessing.
  private static let readers = [".incbin", ".include", "#embed"].map { Data($0.utf8) }

  /// Whether the compiler may read a file after preprocessing: there is one of the directives, or
  /// assembly other than the name of a symbol, as in `int f(void) __asm__("" "f64");`.
  private static func readsFiles(_ source: Data) -> Bool {
    if readers.contains(where: { source.range(of: $0) != nil }) { return true }
    var rest = source[...]
    while let word = rest.range(of: Data("asm".utf8)) {
      rest = rest[word.upperBound...]
      let before = source[..<word.lowerBound].last.map { Character(Unicode.Scalar($0)) }
      // A longer word, or names in quotes. What goes on for longer than this is not cached.
      let next = String(decoding: rest.prefix(500), as: UTF8.self)
      let isHarmless = next.prefixMatch(of: /_*(?:[A-Za-z0-9]|\s*\(\s*(?:"\w*"\s*)+\))/) != nil
      if !isHarmless, before?.isASCII != true || before?.isLetter != true { return true }
    }
    return false
  }

  /// Returns the key of the object; nil if the source cannot be preprocessed, or if it reads
  /// further files.
  private func key(_ output: String) throws -> CacheKey? {
    let others = options.filter { $0 != "-c" && $0 != "-o" && $0 != output }
    let (status, source, _) = try Self.run(compiler, others + ["-E"], showing: false)
    guard status == 0, !Self.readsFiles(source) else { return nil }
    let version = try Self.run(compiler, ["--version"], showing: false).output
    // With -g the object names the directory, and of clang's the source does not.
    let place = options.contains("-g") ? FileManager.default.currentDirectoryPath : ""
    // Each part begins with its length, because a source can hold any bytes.
    let parts = [version, source] + (others + [place]).map { Data($0.utf8) }
    return CacheKey(parts.flatMap { Array("\($0.count):".utf8) + $0 })
  }

  private func say(_ what: String) {
    guard ProcessInfo.processInfo.environment["COMPILER_CACHE_SAY"] != nil else { return }
    FileHandle.standardError.write(Data("compiler-cache: \(what)\n".utf8))
  }

  /// Runs a command of the PATH. Both streams are files, so that neither can fill up and block.
  private static func run(
    _ command: String, _ arguments: [String], showing: Bool
  ) throws -> (status: Int32, output: Data, talk: Data) {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let files = try ["output", "talk"].map { name in
      try Data().write(to: folder.appending(path: name))
      return try FileHandle(forUpdating: folder.appending(path: name))
    }
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [command] + arguments
    (process.standardOutput, process.standardError) = (files[0], files[1])
    try process.run()
    process.waitUntilExit()
    let texts = try files.map {
      try $0.seek(toOffset: 0); return try $0.readToEnd() ?? Data()
    }
    if showing {
      try FileHandle.standardOutput.write(contentsOf: texts[0])
      try FileHandle.standardError.write(contentsOf: texts[1])
    }
    return (process.terminationStatus, texts[0], texts[1])
  }
}
