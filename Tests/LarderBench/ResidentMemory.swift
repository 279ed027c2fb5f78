import Glibc

/// The resident memory of this process.
enum ResidentMemory {
  /// The resident bytes. See: man 5 proc, `/proc/pid/statm`.
  static var byteCount: Int {
    let fields = firstLine(ofFile: "/proc/self/statm").split(separator: " ")
    return fields.count > 1 ? (Int(fields[1]) ?? 0) * sysconf(Int32(_SC_PAGESIZE)) : 0
  }
}

/// Returns the first line of a file of the kernel, up to 255 bytes; empty if it cannot be read.
func firstLine(ofFile path: String) -> String {
  guard let file = unsafe fopen(path, "r") else { return "" }
  defer { unsafe fclose(file) }
  var line = [CChar](repeating: 0, count: 256)
  guard unsafe fgets(&line, 256, file) != nil else { return "" }
  return String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
