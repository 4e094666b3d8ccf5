internal import ArgumentParser
internal import BinaryImage
internal import LibC
internal import PluginFiles
internal import Registration
internal import Threads

/// `section-dump catalogue DIR…`: what hosts may know of plugins without reading them.
struct Catalogue: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "catalogue",
    abstract: "Writes what the plugins of a directory offer into a file beside them.",
    discussion: """
      Hosts that add the directory take the word of \(StoredCatalogue.name) for every file that is still \
      the one it tells of, and read the others. Write it when the plugins are packaged; archives keep what is \
      needed: size, second of modification, contents. Shows each file, and why those are no plugins that are \
      none. Exit status: 0 it was written, 2 a directory cannot be read or written to, or a file in it is \
      damaged or holds a malformed entry.
      """)

  enum Format: String, CaseIterable, ExpressibleByArgument {
    case table, json
  }

  @Argument(help: "Directories of plugins.", completion: .directory)
  var directories: [String]

  @Option(help: "How to show what was found: table for people, or json.")
  var format = Format.table

  @Flag(help: "Show what would be written, and write nothing.")
  var dryRun = false

  func run() throws {
    let (sink, errors) = (ByteSink(descriptor: 1), ByteSink(descriptor: 2))
    var isWhole = true
    var shown: [JSONValue] = []
    for directory in directories + CommandArguments.current.laterPaths {
      var catalogue = PluginCatalogue(usesStored: false)
      catalogue.add(.directory(directory))
      catalogue.refresh()
      // What is written a moment after a file was has to tell the file from what is written to it next.
      if !catalogue.isSettled {
        POSIXThread.sleep(.nanoseconds(2 * FileStamp.longestTick))
        catalogue.refresh()
      }
      for problem in catalogue.complaints {
        errors.say(problem.description)
        isWhole = false
      }
      if catalogue.problems.isEmpty {
        do throws(ImageError) {
          if !dryRun { try write(catalogue.manifests, to: directory) }
          if format == .table { writeTable(of: catalogue, directory, to: sink) }
        } catch {
          errors.say(error.description)
          isWhole = false
        }
      }
      shown.append(catalogue.json(of: directory))
    }
    if format == .json {
      let document = JSONValue.object([
        .init("schema", .integer(1)), .init("catalogues", .array(shown)),
      ])
      sink.write(document.text + "\n")
    }
    if !sink.finish(errors) || !isWhole { throw ExitCode(2) }
  }

  /// Puts the catalogue into a directory, in place of the one that is there; at no time is half of it there.
  private func write(_ manifests: [PluginManifest], to directory: String) throws(ImageError) {
    let path = directory + "/" + StoredCatalogue.name
    // Whatever another that was killed has left behind.
    var temporary = (path + ".XXXXXX").utf8.cText
    let text = StoredCatalogue.text(of: manifests)
    let descriptor = unsafe mkstemp(&temporary)
    guard descriptor >= 0 else { throw ImageError(system: errno, path) }
    defer { close(descriptor) }
    var failure = Array(text.utf8).write(to: descriptor)
    // Whatever the mask of this process takes away.
    if failure == 0, fchmod(descriptor, 0o644) != 0 { failure = errno }
    if failure == 0, unsafe rename(temporary, path) != 0 { failure = errno }
    guard failure == 0 else {
      unsafe unlink(temporary)
      throw ImageError(system: failure, path)
    }
  }

  private func writeTable(of catalogue: PluginCatalogue, _ directory: String, to sink: ByteSink) {
    let count = catalogue.manifests.count.counted("plugin")
    let verb = dryRun ? "would tell of" : "tells of"
    sink.write("\(directory)/\(StoredCatalogue.name) \(verb) \(count)".escaped + "\n")
    var table = Table(["FILE", "MACHINE", "ENTRIES", "REQUIRES"])
    for candidate in catalogue.candidates {
      let name = candidate.path.fileName
      switch candidate.found {
      case .success(let manifest):
        let required = manifest.records.flatMap(\.attributes.requires)
        table.add([
          name, manifest.identity.machine, String(manifest.records.count),
          required.joined(separator: ", "),
        ])
      case .failure(let error): table.add([name, "–", "–", error.message])
      }
    }
    table.write(to: sink, Style(isColored: false))
  }
}

extension PluginCatalogue {
  /// What is wrong: with the directory, with damaged files, with entries.
  fileprivate var complaints: [ImageError] {
    problems
      + candidates.flatMap { candidate -> [ImageError] in
        switch candidate.found {
        case .success(let manifest): manifest.rejections.map { ImageError($0) }
        case .failure(let error): candidate.isDamaged ? [error] : []
        }
      }
  }

  /// The plugins as they are stored, and why the other files are none.
  fileprivate func json(of directory: String) -> JSONValue {
    let others = candidates.compactMap(\.refusal)
    return .object([
      .init("directory", .string(directory)), .init("files", .array(manifests.map(\.stored))),
      .init("others", .array(others)),
      .init("problems", .array(problems.map { .string($0.description) })),
    ])
  }
}
