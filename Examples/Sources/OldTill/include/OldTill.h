/* Empty: the host finds this library's entries in its sections. */
