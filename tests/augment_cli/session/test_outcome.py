"""A stage of which nearly no row has a text says so once, with the reason and the options."""

import pytest

from augment_cli.engine.engine import Engine
from augment_cli.runs.run import make_run
from augment_cli.session import Session, Silent
from augment_cli.vectors.mine_parameters import MineParameters
from tests.helpers.made_stores import store_of

# A template, whose words all sentences share.
QUESTIONS = [
    f"What happens when the old {name} {verb} at night?"
    for name in ["garden", "river", "castle", "bridge"]
    for verb in ["opens", "closes", "floods", "shines", "breaks", "moves"]
]


class Warned(Silent):
    def __init__(self):
        self.lines = []

    def warn(self, message):
        self.lines.append(message)


@pytest.fixture
def warned(tmp_path):
    def run(make, lines=QUESTIONS):
        store = store_of(tmp_path, lines, part_rows=25)
        reporter = Warned()
        for _ in range(2):  # the second time nothing is made, and nothing said
            with Session(store.path, Engine(1), reporter) as session:
                make(session)
        return reporter.lines

    return run


def test_mining_names_the_share_of_sentences_that_leaves_words_out(warned):
    (line,) = warned(lambda session: session.mine(MineParameters()))
    assert line.startswith("mined-tfidf: 0 of 24 rows have a text; of 24 the reason is 'no_candidate', ")
    assert "--max-df 0.02" in line and "--by vectors" in line
    assert warned(lambda session: session.mine(MineParameters(max_df=1.0), "again")) == []


def test_mining_whose_limits_pass_nothing_names_them(warned):
    limits = MineParameters(max_df=1.0, max_score=-0.5)
    (line,) = warned(lambda session: session.mine(limits))
    assert "'all_candidates_skipped'" in line and "--max-score" in line


@pytest.mark.parametrize(
    ("name", "words"), [("colour", "No option changes that"), ("word-deletion", "--rate")]
)
def test_an_augmentation_names_its_options(warned, name, words):
    lines = ["No."] * 24 if name == "word-deletion" else QUESTIONS
    (line,) = warned(lambda session: session.augment(make_run(name)), lines)
    assert line.startswith(f"{name}: 0 of 24 rows have a text; of 24 the reason is ") and words in line
    assert warned(lambda session: session.augment(make_run("word-repetition")), lines) == []
