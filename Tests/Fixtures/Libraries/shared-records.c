// Two records that share what a host makes for their implementation. Follows by-hand.h.
RECORD(reader, 2, "BeeHiveTests.SharedReader\0Disk\0" SCOPE "\0shared=x\0")
RECORD(writer, 2, "BeeHiveTests.SharedWriter\0Disk\0" SCOPE "\0shared=x\0")
