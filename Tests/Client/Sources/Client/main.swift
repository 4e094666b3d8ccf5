import BeeHive
import CModules
import SwiftModules

modules_link()
for entry in Hive.process.entries { print(entry.kind, entry.name) }
print(try Hive.process.service((any Greeter).self).greeting)
