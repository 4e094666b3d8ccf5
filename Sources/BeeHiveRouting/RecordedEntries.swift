internal import BeeHive

/// Which records of images have become routes and targets.
struct RecordedEntries {
  var version: Int?
}

extension RoutingCore {
  func catchUp(probing: Bool) {}
}
