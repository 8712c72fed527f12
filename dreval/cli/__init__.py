"""The command line: one file is one verb."""
