internal import BinaryImage
internal import CStateRecord
internal import Registration

/// The states of the entries of this process's images, for others to read: `section-dump live` in this process's
/// memory, a debugger in a core file. Lives under the Hive's lock.
struct StateRecord {
  /// The cells of the images that were added.
  private var images: [MappedImage.ID: Int32] = [:]
  /// The modules that the last start left out by name.
  var switchedOff: Set<String> = []
  /// The stage of any other module that comes now; nil while the Hive does not run.
  var arrival: ModuleStage?

  /// Adds an image.
  mutating func add(_ image: MappedImage) {
    let cell = state_record_image(UInt64(image.bias.rawValue))
    if cell >= 0 { images[image.id] = cell }
  }

  /// Adds an entry, and ignores an entry that no image declares.
  func add(_ entry: RegisteredEntry) {
    guard let image = entry.image.flatMap({ images[$0] }), case .image(let origin) = entry.source,
      let section = LoadedImage.sectionNames.firstIndex(of: origin.section)
    else { return }
    if entry.stateCell < 0 {
      entry.stateCell = state_record_entry(
        image, UInt16(section), UInt32(truncatingIfNeeded: origin.index))
    }
    // An entry that was never tried has no reason in there.
    if !entry.isUnbound || entry.isForeign { entry.publishProgress() }
    publishArrival(of: entry)
  }

  /// Writes the stage of a module that was not tried yet and has been bound while others start or run.
  func publishArrival(of entry: RegisteredEntry) {
    guard entry.kind == .module, let arrival else { return }
    entry.publish(switchedOff.contains(entry.name) ? .disabled : arrival)
  }
}

extension RegisteredEntry {
  /// Writes the stage of the module to the state record, if the module is bound.
  func publish(_ stage: ModuleStage?) { if provider != nil { publishProgress(stage) } }

  /// Writes the progress of the entry to the state record.
  ///
  /// The state of a bound module stays bound, so that older readers show the reason of its stage too.
  func publishProgress(_ stage: ModuleStage? = nil) {
    guard stateCell >= 0 else { return }
    let (state, code, reason): (Int, String?, String?) =
      switch progress {
      case _ where isWithdrawn && holders.isEmpty: (STATE_WITHDRAWN, nil, nil)
      case _ where isWithdrawn: (STATE_WITHDRAWN, "held", holders.joined(separator: "; "))
      case .bound: (STATE_BOUND, stage?.reason == nil ? nil : stage?.code.rawValue, stage?.reason)
      case .accepted(let problem): (STATE_ACCEPTED, problem.code.rawValue, problem.message)
      case .rejected(let problem): (STATE_REJECTED, problem.code.rawValue, problem.message)
      }
    // Sound: both texts outlive the call, which copies them.
    unsafe state_record_set(stateCell, UInt16(state), code, reason)
  }
}

/// The stage of a module, for reports and the state record.
struct ModuleStage {
  /// The stage of a module that is bound: the stable codes of the state record.
  enum Code: String {
    /// The environment or the options of the start have switched it off.
    case disabled = "disabled"
    /// A step of its start failed or took longer than it may, or a module that it requires failed.
    case failed = "failed"
    /// Its start is under way.
    case starting = "starting"
    /// It runs; if there is a reason, a step of its start failed.
    case started = "started"
    /// A requirement cannot start, the start has not come to the module yet, or the module came after it.
    case notStarted = "not-started"
  }

  let code: Code
  /// The reason that the module does not run, or the failure of its start.
  let reason: String?

  /// The word that a report prints.
  var word: String { code == .notStarted ? "not started" : code.rawValue }

  init(_ code: Code, _ reason: String? = nil) { (self.code, self.reason) = (code, reason) }

  static let disabled = Self(
    .disabled, "switched off by BEEHIVE_DISABLE or the options of the start")
  static let waiting = Self(.notStarted, "the start has not come to it yet")
  static let late = Self(
    .notStarted,
    "came after the start; startLatecomers() starts it, in C beehive_start_latecomers()")
}
