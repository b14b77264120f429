"""The folders of a fit's three stages: the matrix, the term table, and how the terms are written."""

from __future__ import annotations

TFIDF_STAGE = "tfidf"
TERMS_STAGE = "terms"
FORMS_STAGE = "forms"


def stage_names(fit: str | None) -> tuple[str, str]:
    """Folders of a fit's matrix and term table: `tfidf` and `terms`, or `tfidf-NAME` and `terms-NAME`."""
    return (TFIDF_STAGE, TERMS_STAGE) if not fit else (f"{TFIDF_STAGE}-{fit}", f"{TERMS_STAGE}-{fit}")


def forms_name(fit: str | None) -> str:
    """Folder of a fit's forms: `forms`, or `forms-NAME`."""
    return FORMS_STAGE if not fit else f"{FORMS_STAGE}-{fit}"
