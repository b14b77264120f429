"""Object stores and other places that an address names: read from, and stores copied to and fro."""
