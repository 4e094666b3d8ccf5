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
    let added = try core.routes.withLock { table throws(RoutingError) -> [(String, UInt64)] in
      for (name, url) in aliases.sorted(by: { $0.key < $1.key }) {
        guard let read = try? URLText(name), read.path == [name], read.items.isEmpty else {
          throw RoutingError(.badPattern, "the alias \"\(name)\" is no single segment of a path")
        }
        var next = url
        var way = [name]
        while let parsed = try URLText(next, limits: limits).aliasName,
          let onward = aliases[parsed] ?? table.aliases[parsed]?.value
        {
          way.append(parsed)
          try RoutingError.check(
            !way.dropLast().contains(parsed) && way.count <= Call.mostRedirections, .redirectLoop,
            "aliases lead back, or on more than \(Call.mostRedirections) times: "
              + way.joined(separator: " → "))
          next = onward
        }
      }
      for (name, url) in aliases {
        if let known = table.aliases[name]?.value, known != url {
          throw RoutingError(
            .duplicate, "the alias \(name) means \(known) already, not \(url)")
        }
      }
      return aliases.compactMap { name, url in
        guard table.aliases[name] == nil else { return nil }
        let alias = Numbered(value: url)
        table.aliases[name] = alias
        return (name, alias.number)
      }
    }
    return core.owned { [core] in
      core.routes.withLock { table in
        // A name that was given anew since is left alone.
        for (name, number) in added where table.aliases[name]?.number == number {
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
