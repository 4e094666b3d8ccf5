/* Empty: the host finds this plugin's entries in its sections. */
