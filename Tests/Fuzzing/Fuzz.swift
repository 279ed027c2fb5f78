import Glibc

@testable import Larder
@testable import LarderDisk
@testable import LarderSystem
@testable import LarderTool

// Shared by all targets: the fuzzer's bytes as a stream of choices.

/// A generator whose numbers are the fuzzer's bytes, so that coverage guides the choices. After the
/// last byte it uses a simple generator, because with a constant the library's own functions could
/// draw again for ever.
struct ByteRandom: RandomNumberGenerator {
  private var bytes: ArraySlice<UInt8>
  private var rest: UInt64 = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes[...]
  }

  var isEmpty: Bool { bytes.isEmpty }

  /// Returns one byte, spread over the word, because most choices are among few.
  mutating func next() -> UInt64 {
    guard let byte = bytes.popFirst() else {
      rest = rest &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return rest
    }
    return UInt64(byte) &* 0x0101_0101_0101_0101
  }

  /// Takes the next bytes unchanged.
  mutating func take(_ count: Int) -> [UInt8] {
    let taken = bytes.prefix(count)
    bytes = bytes.dropFirst(count)
    return Array(taken)
  }

  /// Takes as many bytes as the next number says.
  mutating func takeSome(_ most: Int = 255) -> [UInt8] { take(Int(next() & 0xff) % (most + 1)) }
}

/// Runs a body with a new directory for one input.
func withDirectory(_ body: (String) throws -> Void) {
  var template = Array("/dev/shm/larder-fuzz-XXXXXX".utf8CString)
  guard unsafe mkdtemp(&template) != nil else { fatalError("no directory: \(errno)") }
  let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  do {
    try body(path)
  } catch {
    fatalError("\(error)")
  }
  remove(path)
}

private func remove(_ path: String) {
  guard let stream = unsafe opendir(path) else {
    _ = unsafe unlink(path)
    return
  }
  var names: [[CChar]] = []
  while let entry = unsafe readdir(stream) {
    unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
      names.append(unsafe bytes.prefix { $0 != 0 }.map { CChar(bitPattern: $0) } + [0])
    }
  }
  let folder = unsafe open(path, O_RDONLY | O_DIRECTORY)
  for name in names where name != [46, 0] && name != [46, 46, 0] {
    if unsafe unlinkat(folder, name, 0) != 0 { unsafe unlinkat(folder, name, AT_REMOVEDIR) }
  }
  close(folder)
  unsafe closedir(stream)
  _ = unsafe rmdir(path)
}

/// Ends the program unless a condition holds.
func require(_ holds: Bool, _ what: @autoclosure () -> String) {
  if !holds { fatalError(what()) }
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
  fuzz(bytes)
  return 0
}
