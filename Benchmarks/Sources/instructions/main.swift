import CFloors
import Glibc
import Workloads

// Counts one comparison: the first round warms the caches, the second counts.
let arguments = CommandLine.arguments.dropFirst()
if arguments == ["--list"] {
  Workloads.names.forEach { print($0) }
  exit(0)
}
guard arguments.count == 2,
  let comparison = Workloads.make(
    CommandLine.arguments[1], fixtures: Fixtures(folder: CommandLine.arguments[2]))
else {
  print("usage: instructions <comparison> <fixtures> | --list")
  exit(64)
}
guard floor_counts() != 0 else {
  print("instructions: built without valgrind's headers; install valgrind and build again")
  exit(69)
}
let sides = [
  ("base", comparison.base), ("floor", comparison.floor), ("candidate", comparison.candidate),
]
for round in ["warm-up", "count"] {
  for (name, side) in sides { side?.count(as: "\(round) \(name)") }
}
