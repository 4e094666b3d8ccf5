internal import BinaryImage
internal import Threads

/// Threads that read files. Their results are taken in the order of the files.
///
/// The thread that created the pool adds files. If no other thread is wanted, or the system gives none, it reads and
/// takes too. A limit bounds how far reading is ahead of taking.
final class ReadingThreads<Sums: Reported> {
  typealias Part = ReportPart<Sums>
  /// Reads files one after another and returns the last part of the result. It may hand on other parts before.
  typealias Read = @Sendable (_ files: [Input], _ handOn: @escaping (Part) -> Void) -> Part

  /// The most files of a batch. Handing over single files costs more than reading them.
  private static var mostFiles: Int { 32 }
  /// The number of batches that may be in progress for each thread.
  private static var lead: Int { 8 }

  private let jobs: Int
  private let read: Read
  private let take: (Part) -> Void
  private let state = Lock(State())
  private var workers: [POSIXThread] = []
  private var files: [Input] = []
  private var batches = 0
  /// The number of batches that were given to other threads.
  private var issued = 0

  /// Creates a pool of `jobs` threads. `take` runs on one of them at a time, and has returned before `finish` does.
  init(jobs: Int, read: @escaping Read, take: @escaping (Part) -> Void) {
    self.jobs = jobs
    self.read = read
    self.take = take
  }

  /// Adds a file to read.
  func add(_ file: Input) {
    files.append(file)
    // There may be only a few files: then each is worth a thread.
    let wanted = jobs > 1 ? 1 + batches / (2 * jobs) : 1 + batches * Self.mostFiles
    if files.count >= min(Self.mostFiles, wanted) { issue() }
  }

  /// Waits until every file is read and every part is taken.
  func finish() {
    if !files.isEmpty { issue() }
    state.change { $0.isClosed = true }
    for worker in workers { worker.join() }
  }

  private func issue() {
    let batch = files
    files = []
    batches += 1
    if jobs > 1, workers.count < jobs, let worker = worker() { workers.append(worker) }
    guard !workers.isEmpty else { return take(read(batch, take)) }
    state.wait { issued - $0.turn < Self.lead * jobs ? () : nil }
    state.change { $0.waiting.append((issued, batch)) }
    issued += 1
  }

  private func worker() -> POSIXThread? {
    let (state, read) = (state, read)
    // Sound: only the thread whose batch has its turn calls it, and the lock is between two turns.
    nonisolated(unsafe) let take = take
    return POSIXThread {
      while let (number, files) = state.wait(until: { $0.next() }) {
        let part = read(files) { part in
          state.wait { $0.turn == number ? () : nil }
          unsafe take(part)
        }
        state.withLock { $0.read[number] = part }
        // Each part is removed once, so only one thread takes it.
        while let part = state.withLock({ $0.read.removeValue(forKey: $0.turn) }) {
          unsafe take(part)
          state.change { $0.turn += 1 }
        }
      }
    }
  }

  private typealias Batch = (number: Int, files: [Input])

  /// State of the pool, under its lock.
  private struct State {
    var waiting: ArraySlice<Batch> = []
    /// The last parts of batches that were read and wait for their turn.
    var read: [Int: Part] = [:]
    /// The batch whose parts are taken now. Other batches wait before they hand on parts, so few parts are kept.
    var turn = 0
    var isClosed = false

    /// Returns the next batch; `.some(nil)` if no more will come, nil if that is not known yet.
    mutating func next() -> Batch?? {
      if let batch = waiting.popFirst() { return batch }
      return isClosed ? .some(nil) : nil
    }
  }
}
