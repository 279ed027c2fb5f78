import Foundation
import LarderTestSupport
import Testing

@testable import LarderSystem
@testable import LarderTool

struct `A directory of files` {
  @Test func `is listed without a file that vanishes meanwhile`() throws {
    let directory = try TemporaryDirectory()
    for name in ["a", "b", "c"] {
      // All may read it, whatever the umask is.
      #expect(
        FileManager.default.createFile(
          atPath: "\(directory.path)/\(name)", contents: Data([1]),
          attributes: [.posixPermissions: 0o644]))
    }
    let faults = FaultInjector()
    faults.plan(.errno(.noSuchFile), for: .fstatat)
    let files = FileTree.readableFiles(
      under: directory.path, byteCounts: 0...9, limit: 9, faults: faults)
    #expect(files.count == 2)
  }
}
