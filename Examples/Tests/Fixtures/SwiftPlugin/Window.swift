internal import BeeHive
internal import CTestContracts

/// A module that calls the host in its steps, on the main actor.
struct Window: Module {
  func initialize(_ context: Context) async throws {
    await MainActor.run { contract_call_host() }
  }

  func handle(_ event: Event, _ context: Context) async throws -> EventResponse {
    await MainActor.run { .handled }
  }

  func tearDown(_ context: Context) async throws { await MainActor.run {} }
}
