"""The command line: each file is one command."""
