import Larder
import Testing

@testable import LarderBasics
@testable import LarderDisk
@testable import LarderSystem
@testable import LarderTool

struct ExitCodeTests {
  @Test func `the statuses are those that scripts rely on`() {
    #expect(ExitCode.allCases.map(\.rawValue) == [0, 1, 2, 3, 4])
    #expect(ExitCode.fine.rawValue == 0)
    #expect(ExitCode.finding.rawValue == 1)
    #expect(ExitCode.usage.rawValue == 2)
    #expect(ExitCode.notACache.rawValue == 3)
    #expect(ExitCode.inputOutput.rawValue == 4)
  }

  @Test(
    arguments: [
      (.directoryMissing, .notACache),
      (.notADirectory, .notACache),
      (.invalidArgument, .usage),
      (.permissionDenied, .inputOutput),
      (.unsafeDirectory, .inputOutput),
      (.noSpace, .inputOutput),
      (.io, .inputOutput),
    ] as [(CacheError.Code, ExitCode)])
  func `a failure of the library has its status`(code: CacheError.Code, exitCode: ExitCode) {
    #expect(ExitCode(code) == exitCode)
  }

  @Test(arguments: CacheError.Code.allCases)
  func `no failure counts as fine or as a mere finding`(code: CacheError.Code) {
    #expect(ExitCode(code).rawValue >= 2)
  }

  @Test func `every status has a meaning of its own`() {
    #expect(Set(ExitCode.allCases.map(\.meaning)).count == ExitCode.allCases.count)
  }
}
