"""Brings or makes the models that hasten is tried on, and real inputs for them. See tools/zoo."""
