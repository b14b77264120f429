"""The small encoders, and one thread for each test."""

from tests.helpers.small_encoders import old_layout, one_thread, plain_model, sentences

__all__ = ["old_layout", "one_thread", "plain_model", "sentences"]
