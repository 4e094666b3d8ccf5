internal import BinaryImage
internal import Threads

/// Threads that read files, while what they find is taken in the order of the files.
///
/// The thread that made it adds files and takes parts; where it is asked for no other thread, or the
/// system gives none, it reads them too. How much is read ahead of what was taken is bounded.
final class ReadingThreads<Sums: Reported> {
  typealias Part = ReportPart<Sums>
  typealias File = Result<Input, ImageError>
  /// Reads files one after another; all but the last part of the result may be handed on before.
  typealias Read = @Sendable (_ files: [File], _ handOn: @escaping (Part) -> Void) -> Part

  /// The most files that are read at a time: of many, handing over costs more than reading one.
  private static var mostFiles: Int { 32 }
  /// How many batches may be on their way for each thread.
  private static var lead: Int { 8 }

  private let jobs: Int
  private let read: Read
  private let take: (Part) -> Void
  private let state = Lock(State())
  private var workers: [POSIXThread] = []
  private var files: [File] = []
  private var batches = 0
  /// The number of batches that were given to other threads.
  private var issued = 0

  /// Reads with `jobs` threads; `take` runs on this one.
  init(jobs: Int, read: @escaping Read, take: @escaping (Part) -> Void) {
    self.jobs = jobs
    self.read = read
    self.take = take
  }

  /// Has one more file read.
  func add(_ file: File) {
    files.append(file)
    // The first ones may be all: then each is worth a thread.
    let wanted = jobs > 1 ? 1 + batches / (2 * jobs) : 1 + batches * Self.mostFiles
    if files.count >= min(Self.mostFiles, wanted) { issue() }
  }

  /// Returns when every file was read, and every part taken.
  func finish() {
    if !files.isEmpty { issue() }
    takeParts(until: issued)
    state.change { $0.isClosed = true }
    for worker in workers { worker.join() }
  }

  private func issue() {
    let batch: Batch = (issued, files)
    files = []
    batches += 1
    if jobs > 1, workers.count < jobs, let worker = worker() { workers.append(worker) }
    guard !workers.isEmpty else { return take(read(batch.files, take)) }
    issued += 1
    state.change { $0.waiting.append(batch) }
    takeParts(until: issued - Self.lead * jobs)
  }

  private func worker() -> POSIXThread? {
    let (state, read) = (state, read)
    return POSIXThread {
      while let batch = state.wait(until: { $0.next() }) {
        let part = read(batch.files) { part in
          state.wait { $0.turn == batch.number && $0.early == nil ? () : nil }
          state.change { $0.early = part }
        }
        state.change { $0.last[batch.number] = part }
      }
    }
  }

  /// Takes what is there, and waits until as many batches were taken.
  private func takeParts(until count: Int) {
    while true {
      while let part = state.change({ $0.takeReady() }) { take(part) }
      guard state.withLock({ $0.turn < count }) else { return }
      state.wait { $0.hasReady ? () : nil }
    }
  }

  private typealias Batch = (number: Int, files: [File])

  /// What the threads share: batches to be read, and parts to be taken.
  private struct State {
    var waiting: ArraySlice<Batch> = []
    /// A part of the batch whose turn it is, while the rest of it is being read. No other batch hands on
    /// any but its last part, so that few are held.
    var early: Part?
    /// The last parts of batches.
    var last: [Int: Part] = [:]
    /// The batch whose parts are taken now.
    private(set) var turn = 0
    var isClosed = false

    /// A batch to read; nil in place of one where no more will come, nil where that is not known yet.
    mutating func next() -> Batch?? {
      if let batch = waiting.popFirst() { return batch }
      return isClosed ? .some(nil) : nil
    }

    /// Whether there is something to take.
    var hasReady: Bool { early != nil || last[turn] != nil }

    /// What is to be taken next; nil where that is still being read.
    mutating func takeReady() -> Part? {
      if let part = early.take() { return part }
      guard let part = last.removeValue(forKey: turn) else { return nil }
      turn += 1
      return part
    }
  }
}
