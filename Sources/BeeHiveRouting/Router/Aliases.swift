internal import Threads

extension Router {
  /// Registers names for URLs, from a property list, JSON or YAML: all or none.
  ///
  ///     try router.register(aliases: ["home": "app://shop/home"])
  ///     try await router.open("home?from=mail")  // opens app://shop/home?from=mail
  ///
  /// Giving a name the URL that it has changes nothing. What a module registers is removed when it is
  /// unmounted.
  ///
  /// - Parameter aliases: Names of one segment each, and their URLs, which may be names of others.
  /// - Returns: Its `cancel()` removes the aliases that this call has added.
  /// - Throws: ``RoutingError`` with `badPattern` if a name is no single segment, with `malformedURL` or
  ///   `limitExceeded` if a URL cannot be read, with `redirectLoop` if aliases lead back to one another, with
  ///   `duplicate` if a name has another URL already.
  @discardableResult
  public func register(aliases: [String: String]) throws(RoutingError) -> Handle {
    let limits = core.limits.withLock { $0 }
    let added = try core.routes.withLock { table throws(RoutingError) in
      var all = table.aliases
      let sorted = aliases.sorted { $0.key < $1.key }
      for (name, url) in sorted {
        guard let read = try? URLText(name), read.path == [name], read.items.isEmpty else {
          throw RoutingError(.badPattern, "the alias \"\(name)\" is no single segment of a path")
        }
        let known = all[name]?.value ?? url
        try RoutingError.check(
          known == url, .duplicate, "the alias \(name) means \(known) already, not \(url)")
        if all[name] == nil { all[name] = Numbered(value: url) }
      }
      for (name, url) in sorted {
        var (way, next) = ([name], url)
        while let alias = try URLText(next, limits: limits).aliasName, let url = all[alias]?.value {
          way.append(alias)
          try RoutingError.check(
            !way.dropLast().contains(alias) && way.count <= Call.mostRedirections, .redirectLoop,
            "aliases lead back, or on more than \(Call.mostRedirections) times: "
              + way.joined(separator: " → "))
          next = url
        }
      }
      let added = all.filter { table.aliases[$0.key] == nil }
      table.aliases = all
      return added
    }
    return core.owned { [core] in
      core.routes.withLock { table in
        // A name that was given anew since is left alone.
        for (name, alias) in added where table.aliases[name]?.number == alias.number {
          table.aliases[name] = nil
        }
      }
    }
  }

  /// The registered aliases, as a snapshot.
  package var aliases: [String: String] {
    core.routes.withLock { $0.aliases }.mapValues(\.value)
  }
}

extension URLText {
  /// The name that an alias may have: one segment and no scheme.
  var aliasName: String? {
    scheme == nil && host == nil && path.count == 1 ? path[0] : nil
  }
}
