// Plugins belong to a Hive, so importing this gives its types too.
@_exported public import BeeHive
