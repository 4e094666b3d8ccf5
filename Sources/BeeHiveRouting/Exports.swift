// A Hive is what routes and targets belong to, so whoever imports this has its types too.
@_exported public import BeeHive
