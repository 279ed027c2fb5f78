// swift-tools-version: 6.3
import PackageDescription

let house: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .strictMemorySafety(),
]

let package = Package(
  name: "larder",
  products: [
    .library(name: "Larder", targets: ["Larder"]),
    .library(name: "LarderFoundation", targets: ["LarderFoundation"]),
    .executable(name: "larder", targets: ["LarderTool"]),
  ],
  targets: [
    .target(
      name: "Larder",
      swiftSettings: house + [
        // One file uses it: System/Symbols.swift declares what Glibc's module lacks.
        .enableExperimentalFeature("Extern")
      ]
    ),
    .target(name: "LarderFoundation", dependencies: ["Larder"], swiftSettings: house),
    .executableTarget(name: "LarderTool", dependencies: ["Larder"], swiftSettings: house),
    .executableTarget(name: "LarderBench", dependencies: ["Larder"], swiftSettings: house),
    .executableTarget(
      name: "Schedules", dependencies: ["Larder"], path: "Tests/Schedules", swiftSettings: house),
    // How all tests wait, and where they put their files: see MachineTime.swift in it.
    .testTarget(name: "LarderTestSupport", swiftSettings: house),
    .testTarget(
      name: "LarderTests", dependencies: ["Larder", "LarderTestSupport"], swiftSettings: house),
    .testTarget(
      name: "LarderFoundationTests", dependencies: ["LarderFoundation", "LarderTestSupport"],
      swiftSettings: house),
    .testTarget(
      name: "LarderToolTests", dependencies: ["Larder", "LarderTool", "LarderTestSupport"],
      swiftSettings: house),

    // Complete programs, as a package of yours would have them: no settings of the house.
    .executableTarget(
      name: "CachingProxy", dependencies: ["Larder", "LarderFoundation"],
      path: "Tests/Examples/CachingProxy"),
    .executableTarget(
      name: "CompilerCache", dependencies: ["Larder"], path: "Tests/Examples/CompilerCache"),
    .executableTarget(
      name: "Thumbnails", dependencies: ["Larder"], path: "Tests/Examples/Thumbnails"),
    .executableTarget(
      name: "RedisLoader", dependencies: ["Larder"], path: "Tests/Examples/RedisLoader"),
    .testTarget(
      name: "ForecastTests", dependencies: ["Larder"], path: "Tests/Examples/ForecastTests",
      exclude: ["Fixtures"]),
    .testTarget(
      name: "ExampleTests",
      dependencies: ["CachingProxy", "CompilerCache", "Thumbnails", "LarderTestSupport"],
      swiftSettings: house),
  ],
  swiftLanguageModes: [.v6]
)
