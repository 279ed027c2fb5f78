// swift-tools-version: 6.3
import PackageDescription

// LARDER_INSTRUMENT=SCHEDULES in the environment builds the library for the explorer of schedules,
// HOLDS with a record of how long locks are held, and THREAD_SANITIZER with a mutex that the thread
// sanitizer understands. Tests/Instruments has what these builds add.
let instrument = Context.environment["LARDER_INSTRUMENT"]

let house: [SwiftSetting] =
  [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .strictMemorySafety(),
  ] + (instrument.map { [.define("LARDER_\($0)")] } ?? [])

/// A layer of the library: see Sources/README.md. A build with an instrument adds its files.
func layer(
  _ name: String, _ dependencies: [Target.Dependency], _ settings: [SwiftSetting] = house
) -> Target {
  let instruments = "Tests/Instruments/\(name)"
  let hasSome = instrument != nil && !["LarderDigest", "LarderFixtures"].contains(name)
  return .target(
    name: name, dependencies: dependencies, path: hasSome ? "." : nil,
    // A page is no source, as it would be below the root.
    exclude: hasSome && name == "Larder" ? ["Sources/Larder/Larder.docc"] : [],
    sources: hasSome ? ["Sources/\(name)", instruments] : nil, swiftSettings: settings)
}

// The layers of the library, each of which imports those before it.
let layers: [Target.Dependency] = [
  "LarderSystem", "LarderDigest", "LarderBasics", "LarderMemory", "LarderDisk", "Larder",
]

// What neither users nor `swift test` need. It is part of the package only if LARDER_EVERYTHING is
// set in the environment, as .ci/run and the scripts of Tests/Reliability do.
let programs: [Target] = [
  .executableTarget(
    name: "LarderBench", dependencies: layers + ["LarderHTTP"], path: "Tests/LarderBench",
    swiftSettings: house),
  .executableTarget(
    name: "Schedules", dependencies: layers, path: "Tests/Schedules", swiftSettings: house),
  .executableTarget(
    name: "HungDisk", dependencies: ["Larder"], path: "Tests/HungDisk", swiftSettings: house),
  // Complete programs, as a package of yours would have them: no settings of the house.
  .executableTarget(
    name: "CachingProxy", dependencies: ["LarderHTTP"], path: "Tests/Examples/CachingProxy"),
  .executableTarget(
    name: "CompilerCache", dependencies: ["Larder"], path: "Tests/Examples/CompilerCache"),
  .executableTarget(
    name: "Thumbnails", dependencies: ["Larder"], path: "Tests/Examples/Thumbnails"),
  .executableTarget(
    name: "RedisLoader", dependencies: ["Larder"], path: "Tests/Examples/RedisLoader"),
  .executableTarget(
    name: "SharedTier", dependencies: ["Larder"], path: "Tests/Examples/SharedTier"),
  .testTarget(
    name: "ForecastTests", dependencies: ["Larder", "LarderFixtures"],
    path: "Tests/Examples/ForecastTests", exclude: ["Fixtures"]),
  .testTarget(
    name: "ExampleTests",
    dependencies: [
      "CachingProxy", "CompilerCache", "RedisLoader", "SharedTier", "Thumbnails",
      "LarderTestSupport",
    ],
    swiftSettings: house),
]
let isEverything = Context.environment["LARDER_EVERYTHING"] != nil
// LARDER_TESTS=Disk,Cache in the environment builds of LarderTests those folders alone.
let folders = Context.environment["LARDER_TESTS"]?.split(separator: ",").map(String.init)

/// A target of tests. `parts` are folders that are built with LARDER_EVERYTHING or LARDER_TESTS
/// alone: tests of values inside the library and the tool, beside naive models, of every failing
/// system call, and of the pages. Only a change of Larder's own sources can break what they test.
func tests(
  _ name: String, _ dependencies: [Target.Dependency], parts: [String], sources: [String]? = nil
) -> Target {
  .testTarget(
    name: name, dependencies: dependencies + ["LarderTestSupport"],
    exclude: isEverything || folders != nil ? [] : parts, sources: sources,
    swiftSettings: house)
}

let package = Package(
  name: "larder",
  products: [
    .library(name: "Larder", targets: ["Larder"]),
    .library(name: "LarderFixtures", targets: ["LarderFixtures"]),
    .library(name: "LarderFoundation", targets: ["LarderFoundation"]),
    .library(name: "LarderHTTP", targets: ["LarderHTTP"]),
    .executable(name: "larder", targets: ["LarderTool"]),
  ],
  targets: [
    .target(name: "LarderLibc", swiftSettings: house),
    // One file of LarderSystem uses Extern: Symbols.swift declares what Glibc's module lacks.
    layer("LarderSystem", ["LarderLibc"], house + [.enableExperimentalFeature("Extern")]),
    layer("LarderDigest", ["LarderSystem"]),
    layer("LarderBasics", ["LarderSystem"]),
    layer("LarderMemory", ["LarderSystem", "LarderBasics"]),
    layer("LarderDisk", ["LarderSystem", "LarderDigest", "LarderBasics"]),
    layer("Larder", ["LarderSystem", "LarderBasics", "LarderMemory", "LarderDisk"]),
    layer(
      "LarderFixtures",
      ["LarderSystem", "LarderDigest", "LarderBasics", "LarderDisk", "Larder"]),
    .target(name: "LarderFoundation", dependencies: ["Larder"], swiftSettings: house),
    layer("LarderHTTP", ["Larder", "LarderSystem"]),
    .executableTarget(
      name: "LarderTool", dependencies: layers + ["LarderLibc", "LarderFixtures"],
      swiftSettings: house),
    // How all tests wait, and where they put their files: see MachineTime.swift in it.
    .testTarget(name: "LarderTestSupport", swiftSettings: house),
    // The tool packs and checks the fixtures of Recorded.
    tests(
      "LarderTests", layers + ["LarderFixtures", "LarderTool"],
      parts: [
        "Articles", "Cache/Parts", "Digest", "Disk/Parts", "Memory/Parts", "Readme",
        "Recorded/Parts", "System",
      ],
      sources: folders.map { ["Support"] + $0 }),
    tests(
      "LarderToolTests", layers + ["LarderFixtures", "LarderTool"],
      parts: ["Arguments", "Output", "System", "Text", "Values", "Verbs", "Watch"]),
    .testTarget(
      name: "LarderFoundationTests", dependencies: ["LarderFoundation", "LarderTestSupport"],
      swiftSettings: house),
    .testTarget(
      name: "LarderHTTPTests", dependencies: ["LarderHTTP", "LarderTestSupport"],
      swiftSettings: house),
  ] + (isEverything ? programs : []),
  swiftLanguageModes: [.v6]
)
