"""The one store of finished work (SQLite), the key of stored work, and the leases of processes on its cells."""
