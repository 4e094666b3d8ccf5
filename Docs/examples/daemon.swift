// A daemon, as the guide RunUnderSystemdAndInContainers.md shows it.
import BeeHive

@main enum Program {
  static func main() async throws {
    let hive = Hive.process
    var options = RunOptions(tearDownLimit: .seconds(20))
    options.launch.onFailure = .skip
    let report = try await hive.run(options: options)
    print(report)
  }
}
