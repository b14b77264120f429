"""How terms are written: counted on the way of a fit as from its matrix, to the byte."""

from pathlib import Path

import pytest

from augment_cli.engine.engine import Engine
from augment_cli.ingest import IngestOptions
from augment_cli.session import Session
from augment_cli.store.store import Store
from augment_cli.tfidf.fit import FitOptions

SENTENCES = [
    "The McDonald farm is old.",
    "A farm of the McDonald family burned.",
    "“NATO met,” said the NATO man of Köln.",
    "Macdonald met nobody in Köln.",
    "the USA and the usa",
    "…",
    "",
    "Zebras sleep.",
    "İstanbul is far; İstanbul was near.",
    "It met nobody, nobody at all.",
]


def fitted(folder: Path, options: FitOptions | None = None) -> Session:
    folder.mkdir()
    (folder / "corpus.txt").write_text("\n".join(SENTENCES * 3) + "\n", "utf-8")
    session = Session(folder / "store", Engine(1))
    session.__enter__()
    session.ingest([folder / "corpus.txt"], IngestOptions(part_rows=4), max_rejects=1)
    session.fit(options)
    return session


def forms_of(store: Store) -> tuple[bytes, dict[str, tuple[int, str | None]]]:
    table, terms = store.read("forms"), store.read("terms")["term"].to_pylist()
    written = zip(table["case"].to_pylist(), table["mixed"].to_pylist(), strict=True)
    return store.part_path("forms", 0).read_bytes(), dict(zip(terms, written, strict=True))


@pytest.mark.parametrize("options", [None, FitOptions(min_df=4), FitOptions(tokenizer="nltk")])
def test_counted_on_the_way_of_the_fit_as_from_its_matrix(tmp_path: Path, options: FitOptions | None) -> None:
    session = fitted(tmp_path / "once", options)
    on_the_way, forms = forms_of(session.store)
    session.store.remove("forms")
    session.fit()
    assert forms_of(session.store)[0] == on_the_way
    session.fit(options or FitOptions(), name="again")
    assert session.store.part_path("forms-again", 0).read_bytes()[:4] == b"PAR1"
    assert not list(session.store.work.glob("forms*"))
    assert forms["nobody"] == (0, None)
    if options is None:
        assert forms["mcdonald"] == (3, "McDonald") and forms["nato"] == (2, None)
        assert forms["köln"] == (1, None) and forms["zebras"] == (-1, None)
    session.__exit__(None, None, None)


def test_a_fit_whose_forms_nobody_needs_does_not_count_them(tmp_path: Path) -> None:
    session = fitted(tmp_path / "plain")
    session.store.remove("forms", "tfidf", "terms")
    session.fit(with_forms=False)
    assert session.store.has("tfidf") and "forms" not in session.store.stages()
    session.__exit__(None, None, None)
