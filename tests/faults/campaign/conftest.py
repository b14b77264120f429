"""The subjects of all attacks, made once."""

from tests.helpers.attack_subjects import bounded, subject

__all__ = ["bounded", "subject"]
