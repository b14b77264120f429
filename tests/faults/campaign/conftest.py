"""The subjects of all attacks, made once."""

from tests.helpers.attack_subjects import one_thread, subject

__all__ = ["one_thread", "subject"]
