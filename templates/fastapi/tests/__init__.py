"""The tests of the sandbox."""
