import BinaryImage
import Foundation
import TestSupport
import Testing

@testable import PluginFiles

/// Two entries; one requires a module.
let pluginSource = """
  #include <BeeHive.h>
  static const struct { int (*greet)(void); } english;
  BEEHIVE_SERVICE(Greeter, English, &english, BEEHIVE_SCOPE("singleton") BEEHIVE_PRIORITY(3));
  static const beehive_module_operations audio_operations = { 0 };
  BEEHIVE_MODULE(audio, &audio_operations, BEEHIVE_REQUIRES("log >=1.2") BEEHIVE_AFTER("clock"));
  """

/// A folder of plugins, built with the project's header.
extension Folder {
  /// Builds a library, or another kind of file.
  @discardableResult
  func build(
    _ name: String, _ source: String = pluginSource, kind: String = "-shared",
    _ arguments: String...
  ) throws -> String {
    try Compiler.compile(
      source, as: name, in: url,
      [kind, "-fPIC", "-w", "-Wl,--build-id", "-I", Repository.headers] + arguments)
    // The source is not there if the same source was compiled before.
    try? FileManager.default.removeItem(at: place("\(name).source.c"))
    return place(name).path
  }

  /// Returns a catalogue of the folder, refreshed.
  func catalogue() -> PluginCatalogue { PluginCatalogue(.directory(path)) }

  /// Waits until a change of the files written so far would show.
  func settle() throws { Thread.sleep(forTimeInterval: 0.03) }
}

extension PluginCatalogue {
  /// Makes a catalogue of these files and directories, refreshed.
  init(_ sources: Source...) {
    self.init()
    self.sources = sources
    refresh()
  }

  /// The file names of the plugins.
  var plugins: [String] { manifests.map { URL(fileURLWithPath: $0.path).lastPathComponent } }

  /// The reason why each file is no plugin, by its name.
  var reasons: [String: String] {
    var reasons: [String: String] = [:]
    for candidate in candidates {
      guard case .failure(let error) = candidate.found else { continue }
      reasons[URL(fileURLWithPath: candidate.path).lastPathComponent] = error.message
    }
    return reasons
  }
}
