/* Empty: the host finds what this plugin offers in its sections. */
