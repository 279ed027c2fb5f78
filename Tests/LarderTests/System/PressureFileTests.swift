import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

struct PressureFileTests {
  @Test(
    arguments: [
      ("", []),
      ("1:memory:/a\n", []),
      ("0::relative\n", []),
      ("0::/\n", ["/sys/fs/cgroup/memory.pressure", "/sys/fs/cgroup/unified/memory.pressure"]),
      (
        "3:cpu:/x\n0::/system.slice/app.service\n",
        [
          "/sys/fs/cgroup/system.slice/app.service/memory.pressure",
          "/sys/fs/cgroup/unified/system.slice/app.service/memory.pressure",
        ]
      ),
      (
        "0::/a:b/c d\n",
        [
          "/sys/fs/cgroup/a:b/c d/memory.pressure",
          "/sys/fs/cgroup/unified/a:b/c d/memory.pressure",
        ]
      ),
    ] as [(String, [String])])
  func `the files of a process's cgroup follow from what the kernel says of it`(
    _ groups: String, _ files: [String]
  ) {
    #expect(PressureFile.groupFiles(groups) == files)
  }

  @Test
  func `the first file that may be watched is watched, the last says why none may be`() throws {
    let directory = try TemporaryDirectory()
    let configuration = MemoryPressureMonitor.Configuration()
    let absent = "\(directory.path)/absent"
    var name = MemoryPressureStatus.Source.descriptor
    _ = configuration.openSource([absent, directory.path, absent], &name)
    #expect(name == .none(reason: "\(absent): \(Errno.noSuchFile)"))
    let file = "\(directory.path)/file"
    try Shell.run(": > file", in: directory.path)
    _ = configuration.openSource([absent, file, absent], &name)
    #expect(name == .file(file))
    let text = SystemEnvironment.text(ofFile: file)
    #expect(text == "some 150000 2000000\0")
  }

  @Test(arguments: [1, 3, 12])
  func `a window that needs privileges traps`(_ seconds: Int) async {
    await #expect(processExitsWith: .failure) { [seconds = seconds as Int] in
      var configuration = MemoryPressureMonitor.Configuration()
      configuration.window = .seconds(seconds)
      _ = MemoryPressureMonitor(configuration)
    }
  }

  @Test(arguments: [0, 1, -0.5, 2])
  func `a share that is none traps`(_ share: Double) async {
    await #expect(processExitsWith: .failure) { [share = share as Double] in
      var configuration = MemoryPressureMonitor.Configuration()
      configuration.share = share
      _ = MemoryPressureMonitor(configuration)
    }
  }
}
