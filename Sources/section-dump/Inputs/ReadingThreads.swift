internal import BinaryImage
internal import Threads

/// Threads that read files, while what they find is taken in the order of the files.
///
/// The thread that made it adds files. If no other thread is wanted, or the system gives none, it reads and takes
/// too. How much is read ahead of what was taken is bounded.
final class ReadingThreads<Sums: Reported> {
  typealias Part = ReportPart<Sums>
  /// Reads files one after another; all but the last part of the result may be handed on before.
  typealias Read = @Sendable (_ files: [Input], _ handOn: @escaping (Part) -> Void) -> Part

  /// The most files that are read at a time: of many, handing over costs more than reading one.
  private static var mostFiles: Int { 32 }
  /// How many batches may be on their way for each thread.
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

  /// Reads with `jobs` threads; `take` runs on one of them at a time, and has returned before `finish` does.
  init(jobs: Int, read: @escaping Read, take: @escaping (Part) -> Void) {
    self.jobs = jobs
    self.read = read
    self.take = take
  }

  /// Has one more file read.
  func add(_ file: Input) {
    files.append(file)
    // The first ones may be all: then each is worth a thread.
    let wanted = jobs > 1 ? 1 + batches / (2 * jobs) : 1 + batches * Self.mostFiles
    if files.count >= min(Self.mostFiles, wanted) { issue() }
  }

  /// Returns when every file was read, and every part taken.
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
    // Sound: the one thread whose batch has its turn calls it, and the lock is between two turns.
    nonisolated(unsafe) let take = take
    return POSIXThread {
      while let (number, files) = state.wait(until: { $0.next() }) {
        let part = read(files) { part in
          state.wait { $0.turn == number ? () : nil }
          unsafe take(part)
        }
        state.withLock { $0.read[number] = part }
        // Nobody finds the part whose turn it is twice.
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
    /// The batch whose parts are taken now. No other batch hands on any but its last part, so that few are held.
    var turn = 0
    var isClosed = false

    /// Returns a batch to read; nil inside if no more will come, nil if that is not known yet.
    mutating func next() -> Batch?? {
      if let batch = waiting.popFirst() { return batch }
      return isClosed ? .some(nil) : nil
    }
  }
}
