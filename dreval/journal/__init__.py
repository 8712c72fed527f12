"""The one store of finished work (SQLite), and the claims of processes on its cells."""
