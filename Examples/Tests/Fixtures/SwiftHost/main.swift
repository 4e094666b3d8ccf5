import Glibc
import Steps

// A host written in Swift that is linked against libBeeHive.so and exports no symbol.
exit(runSteps(Array(CommandLine.arguments.dropFirst())))
