/* Empty: the host finds what this library offers in its sections. */
