// A Hive is what routes and targets belong to, so importing this gives its types too.
@_exported public import BeeHive
