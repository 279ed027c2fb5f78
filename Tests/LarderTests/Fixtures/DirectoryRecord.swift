import Foundation

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

/// A directory as a manifest and the bytes of its files.
struct DirectoryRecord {
  private(set) var lines: [ManifestLine] = []
  private(set) var contents: [String: [UInt8]] = [:]

  /// The manifest's text.
  var manifest: String { lines.map { "\($0)\n" }.joined() }

  /// Reads a directory without changing any stamp in it.
  init(_ path: String) throws {
    let handle = try DirectoryHandle.open(path: path, faults: nil)
    let names = try FileManager.default.contentsOfDirectory(atPath: path)
    for name in names.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
      try add(name, in: handle, path: "\(path)/\(name)")
    }
  }

  private mutating func add(_ name: String, in handle: DirectoryHandle, path: String) throws {
    let status = try handle.status(of: FileName(text: name))
    var line = ManifestLine(name: name, kind: Self.kind(of: status))
    switch line.kind {
    case .file:
      let file = try handle.openForReading(FileName(text: name))
      contents[name] = try file.read(upTo: Int(status.byteCount))
      try file.withAttribute(.entry) { line.entryAttribute = [UInt8](copying: $0) }
      try file.withAttribute(.data) { line.dataAttribute = [UInt8](copying: $0) }
      // Without the tag's stamps, because nothing reads them.
      if name != "CACHEDIR.TAG" {
        line.access = status.lastAccess
        line.modification = status.modification
      }
    case .link: line.target = try FileManager.default.destinationOfSymbolicLink(atPath: path)
    case .directory, .fifo, .socket: break
    }
    if line.kind != .link { line.permissions = status.permissions }
    lines.append(line)
  }

  private static func kind(of status: FileStatus) -> ManifestLine.Kind {
    switch status.mode & 0o170000 {
    case 0o040000: .directory
    case 0o010000: .fifo
    case 0o140000: .socket
    case 0o120000: .link
    default: .file
    }
  }
}
