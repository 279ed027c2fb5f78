import Foundation
import Synchronization

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

/// A golden directory of `Fixtures/`.
struct Fixture {
  let path: String
  let lines: [ManifestLine]
  /// The text of the manifest.
  let manifest: String

  /// The folder of all fixtures.
  static let root =
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().path
    .components(separatedBy: "/Tests/")[0] + "/Fixtures"

  /// The names of all fixtures.
  static var names: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: root)
        .filter { FileManager.default.fileExists(atPath: "\(root)/\($0)/manifest") }.sorted()
    }
  }

  /// Fixtures by their names. Hundreds of tests build one.
  private static let parsed = Mutex<[String: Fixture]>([:])

  init(_ name: String) throws {
    if let known = Self.parsed.withLock({ $0[name] }) {
      self = known
      return
    }
    path = "\(Self.root)/\(name)"
    manifest = try String(contentsOfFile: "\(path)/manifest", encoding: .utf8)
    lines = try manifest.split(separator: "\n").map { try ManifestLine($0) }
    Self.parsed.withLock { [self] in $0[name] = self }
  }

  /// Returns the bytes of a file of the fixture.
  func content(of name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(path)/content/\(name)")))
  }

  /// Creates the directory that the manifest describes, in an empty folder.
  func build(in directory: TemporaryDirectory) throws {
    let handle = try DirectoryHandle.open(path: directory.path, faults: nil)
    for line in lines { try build(line, in: handle, path: "\(directory.path)/\(line.name)") }
  }

  private func build(_ line: ManifestLine, in handle: DirectoryHandle, path: String) throws {
    switch line.kind {
    case .file: try buildFile(line, in: handle)
    case .directory:
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    case .fifo: try Shell.run("mkfifo \"$NAME\"", in: "/", ["NAME": path])
    case .socket: try UnixSocket.make(at: path)
    case .link:
      try FileManager.default.createSymbolicLink(
        atPath: path, withDestinationPath: line.target ?? "")
    }
    guard line.kind != .file, let permissions = line.permissions else { return }
    try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
  }

  private func buildFile(_ line: ManifestLine, in handle: DirectoryHandle) throws {
    let content = try content(of: line.name)
    let file = try handle.create(FileName(text: line.name), permissions: 0o600)
    try file.write(content.span)
    if let value = line.entryAttribute { try file.setAttribute(.entry, to: value) }
    if let value = line.dataAttribute { try file.setAttribute(.data, to: value) }
    if let permissions = line.permissions { try file.setPermissions(permissions) }
    try file.setTimes(access: line.access, modification: line.modification)
  }
}
