// A daemon, as the guide RunUnderSystemdAndInContainers.md shows it: it opens the plugins that it is given.
import BeeHive
import Glibc

@main enum Program {
  static func main() async {
    for plugin in CommandLine.arguments.dropFirst()
    where dlopen(plugin, RTLD_NOW | RTLD_LOCAL) == nil {
      print(String(cString: dlerror()))  // and the others are opened all the same
    }
    let hive = Hive.process
    hive.observe { if case .started(let launch) = $0 { print(launch) } }
    let options = RunOptions(
      launch: LaunchOptions(onFailure: .skip), tearDownLimit: .seconds(20))
    do {
      let report = try await hive.run(options: options)
      print(report)
      let failures = report.failures + (report.launch?.failures ?? [])
      exit(report.isComplete && failures.isEmpty ? EXIT_SUCCESS : EXIT_FAILURE)
    } catch {
      print(error)
      exit(EXIT_FAILURE)
    }
  }
}
