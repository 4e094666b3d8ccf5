import CFloors
@_spi(Benchmarks) import Registration

/// Finding the sections of every loaded image.
enum Walks {
  /// Finds them through the note. libelf reads it from the walk's copy. The result is for one image.
  static func notes(_ count: Int, _ fixtures: Fixtures) -> Comparison {
    fixtures.load(count, of: "noted")
    // The process's own images count too.
    guard let images = try? Measured.walk(), images > count else { stop("no list of images") }
    return Comparison(
      "walk-notes-\(count)",
      floor: .init(
        run: { guard floor_walk_notes() >= count else { stop("the floor missed an image") } },
        operations: images),
      candidate: .init(
        run: { guard let found = try? Measured.walk(), found == images else { stop("no list") } },
        operations: images))
  }

  /// Finds them through the files, because nothing in the mapped image says where its sections are.
  static func files(_ count: Int, _ fixtures: Fixtures) -> Comparison {
    fixtures.load(count, of: "plain")
    return Comparison(
      "walk-files-\(count)",
      floor: .init {
        guard floor_walk_files() >= count * 10 else { stop("the floor missed an entry") }
      },
      candidate: .init {
        guard let found = try? Measured.copies(), found > count else { stop("an image was missed") }
      })
  }

  /// Finds the sections of files that are not loaded, with the library's own reader and with libelf.
  static func finding(_ count: Int, _ fixtures: Fixtures) -> Comparison {
    let paths = (0..<count).map { fixtures.path(ofCopy: $0, in: "plain") }
    return Comparison(
      "find-sections",
      floor: .init(
        run: {
          for path in paths {
            guard unsafe floor_find_sections(path) > 0 else { stop("the floor missed a file") }
          }
        },
        operations: count),
      candidate: .init(
        run: {
          for path in paths {
            let found = try? Measured.sections(ofFileAt: path)
            guard let found, found > 0 else { stop("a file was missed") }
          }
        },
        operations: count))
  }

  /// Asks the loader whether it has mapped or unmapped anything.
  static func nothingChanged(_ fixtures: Fixtures) -> Comparison {
    fixtures.load(200, of: "noted")
    return Comparison(
      "nothing-changed",
      floor: .init(
        run: { for _ in 0..<100 { guard floor_probe() > 0 else { stop("nothing counted") } } },
        operations: 100),
      candidate: .init(
        run: {
          for _ in 0..<100 { guard Measured.probe() else { stop("nothing counted") } }
        },
        operations: 100))
  }
}
