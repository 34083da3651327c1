"""A sandbox that hosts an agent for an evaluation service."""
