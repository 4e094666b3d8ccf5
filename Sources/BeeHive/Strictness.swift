internal import Synchronization

extension Hive {
  /// Whether the first failure throws where a caller can still be told: BeeHive's `enableException`.
  ///
  /// Off, as a Hive begins, what is refused is listed in `entries` with its reason and the rest goes on.
  /// On, `register(_:file:)` throws the first entry of its file that is refused, and `start` and `run`
  /// throw the first thing that `validate` would list, before any module is made. Calls that register
  /// one thing, or ask for one, throw either way. A library that is opened has no caller of ours: what
  /// it declares is thrown by the next start, or by `validate`.
  public var isStrict: Bool {
    get { strictness.load(ordering: .relaxed) }
    set { strictness.store(newValue, ordering: .relaxed) }
  }

  /// Throws the first of what `validate` would list, if the Hive is strict.
  func checkIfStrict() throws(ValidationError) {
    guard isStrict else { return }
    do throws(ValidationError) { try validate() } catch { throw error.first }
  }
}

extension ValidationError {
  /// The first cause alone.
  fileprivate var first: Self {
    var report = Report(entries: [], images: [], order: [], lifts: [])
    if let entry = self.report.entries.first(where: { $0.code != nil }) {
      report.entries = [entry]
    } else if let image = self.report.images.first {
      report.images = [image]
    } else {
      report.order = Array(self.report.order.prefix(1))
    }
    return Self(report: report)
  }
}
