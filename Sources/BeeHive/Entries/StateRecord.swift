internal import BinaryImage
internal import CStateRecord
internal import Registration
internal import Threads

/// What this process's Hive made of the entries of its images, where others can read it: `section-dump
/// live` in this process's memory, a debugger in a core file. Lives under the Hive's lock.
///
/// Entries that are not made cost nothing: that their image is there says enough of them.
struct StateRecord {
  /// The cells of the images that were taken in.
  private var images: [MappedImage.ID: Int32] = [:]
  /// The modules that the last start left out by name.
  private var switchedOff: Set<String> = []
  /// How far any other module is that comes now; nil while the Hive does not run.
  private var arrival: ModuleStates.Stage?

  /// An image has come.
  mutating func add(_ image: MappedImage) {
    let cell = state_record_image(UInt64(image.bias.rawValue))
    if cell >= 0 { images[image.id] = cell }
  }

  /// An entry has been made, of an image or not.
  func add(_ entry: RegisteredEntry) {
    guard let image = entry.image.flatMap({ images[$0] }), case .image(let origin) = entry.source,
      let section = LoadedImage.sectionNames.firstIndex(of: origin.section)
    else { return }
    let cell = state_record_entry(image, UInt16(section), UInt32(truncatingIfNeeded: origin.index))
    entry.publish(in: cell)
    publishArrival(of: entry)
  }

  /// A module that was not tried yet has been bound while others start or run.
  func publishArrival(of entry: RegisteredEntry) {
    guard entry.kind == .module, let arrival else { return }
    entry.publish(switchedOff.contains(entry.name) ? .disabled : arrival)
  }

  /// The modules are being started, have been, or were torn down: says of each how far it is.
  mutating func publish(
    _ modules: some Sequence<RegisteredEntry>, _ states: ModuleStates, switchedOff: Set<String>
  ) {
    (self.switchedOff, arrival) = (switchedOff, states.untried)
    for module in modules where module.kind == .module {
      module.publish(states.stage(of: module, states.obstacles, switchedOff: switchedOff))
    }
  }

  /// An image has gone, and all its entries with it.
  mutating func remove(_ image: MappedImage.ID) {
    if let cell = images.removeValue(forKey: image) { state_record_forget(cell) }
  }
}

extension RegisteredEntry.Progress {
  /// Tells it to those who read this process's memory.
  func publish(in cell: Int32) {
    let (state, problem): (Int, Problem?) =
      switch self {
      case .bound: (STATE_BOUND, nil)
      case .accepted(let problem): (STATE_ACCEPTED, problem)
      case .rejected(let problem): (STATE_REJECTED, problem)
      }
    // Sound: both texts outlive the call, which copies them.
    unsafe state_record_set(cell, UInt16(state), problem?.code.rawValue, problem?.message)
  }
}

extension ModuleStates.Stage {
  /// Tells how far a bound module is, where there is something to say of it.
  ///
  /// The state stays bound, so that older readers show the reason too.
  func publish(in cell: Int32) {
    // Sound: both texts outlive the call, which copies them.
    unsafe state_record_set(cell, UInt16(STATE_BOUND), reason.map { _ in code.rawValue }, reason)
  }
}
