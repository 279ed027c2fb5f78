import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderSystem

struct `A cache error` {
  @Test func `a code that is also an error number's name stays a code`() {
    let errors = [
      CacheError(.invalidArgument, operation: "open", path: "/"),
      CacheError(.permissionDenied, operation: "open", path: "/"),
      CacheError(.noSpace, operation: "open", path: "/"),
    ]
    #expect(errors.map(\.code) == [.invalidArgument, .permissionDenied, .noSpace])
    #expect(errors.allSatisfy { $0.errno == nil })
  }

  @Test func `an error number keeps its number beside its code`() {
    let error = CacheError(errno: .notPermitted, operation: "store", path: "/k")
    #expect(error.code == .permissionDenied && error.errno == .notPermitted)
  }

  @Test(arguments: ["", ".", "..", "a/b", "a\0b"])
  func `a name that is none is refused in quotes, so that an empty one is seen`(name: String) {
    let error = #expect(throws: CacheError.self) { try Cache(named: name, coder: .string) }
    #expect(error?.code == .invalidArgument && error?.operation == "open")
    #expect(error?.underlying == "'\(name)' is not one path component")
  }
}
