"""A sandbox that hosts an agent for the evaluation service."""
