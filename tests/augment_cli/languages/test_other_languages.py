"""Every registered language, a language without rules, and rules on text of another language."""

from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.language import Language

import augment_cli
from augment_cli import augmentations, languages
from augment_cli.api import run_recipe
from augment_cli.contract.augmentation import Resources
from augment_cli.contract.parameters import declared
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Rows
from augment_cli.engine.engine import Engine
from augment_cli.errors import UsageError
from augment_cli.languages import against, language_of, languages_of, registered
from augment_cli.runs.run import make_run
from augment_cli.runs.tables import as_table
from augment_cli.session import Session
from augment_cli.store.store import Store
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.parses import ParseRows
from tests.helpers.hand_parses import made_up_row, parsed_rows
from tests.helpers.made_stores import Told, store_of

SENTENCES = [
    "Marie lit un livre.",
    "Quand il pleut, nous restons ici.",
    "Le chien dort, nous lisons.",
    "Un livre reste ici!",
]
VERBS = {"lit", "pleut", "restons", "dort", "lisons", "reste"}
NOUNS = {"Marie", "livre", "chien"}
PRONOUNS = {"il", "nous"}
NEEDS_NONE = [
    name
    for name in augmentations.names()
    if not augmentations.get(name).languages
    and "model" not in augmentations.get(name).needs
    and name != "embedding-neighbour"  # needs word vectors of yours
]
LACK = [
    name
    for name in augmentations.names()
    if augmentations.get(name).languages and "fr" not in augmentations.get(name).languages
]
LACKS = (
    r"has rules for .*en.*, and none for (French|the language 'fr'), which pipeline fr_\w+ parses; "
    "with it run "
)


@Language.component("french_by_hand")
def french_by_hand(doc):
    """The last verb is the root; what stands before a verb and is a noun or pronoun is its subject."""
    verbs = [token.i for token in doc if token.text in VERBS]
    for token in doc:
        verb = next((place for place in verbs if place >= token.i), verbs[-1])
        token.head, token.dep_, token.pos_ = doc[verb], "det", "DET"
        if token.text in VERBS:
            token.head, token.dep_, token.pos_ = doc[verbs[-1]], "advcl", "VERB"
        elif token.text in NOUNS | PRONOUNS:
            token.dep_, token.pos_ = "nsubj", "NOUN" if token.text in NOUNS else "PRON"
        elif token.is_punct:
            token.head, token.dep_, token.pos_ = doc[verbs[-1]], "punct", "PUNCT"
    doc[verbs[-1]].dep_ = "ROOT"
    return doc


@pytest.fixture(scope="module")
def french(tmp_path_factory):
    """A French pipeline without a tagger, as those of the package index are."""
    folder = tmp_path_factory.mktemp("pipelines") / "french"
    nlp = spacy.blank("fr", meta={"name": "tiny", "version": "1"})
    nlp.add_pipe("french_by_hand")
    VERBS.update({"waits"})  # of the sentence that a pipeline is tried with
    nlp.to_disk(folder)
    return folder


@pytest.fixture(scope="module")
def parsed(french, tmp_path_factory):
    folder = tmp_path_factory.mktemp("parsed")
    (folder / "in.txt").write_text("\n".join(SENTENCES) + "\n", "utf-8")
    augment_cli.ingest_corpus(folder / "in.txt", folder / "store")
    augment_cli.parse(folder / "store", pipeline=french, jobs=1)
    return folder / "store"


@pytest.mark.parametrize("name", NEEDS_NONE)
def test_what_needs_no_rules_runs(parsed, name):
    assert augment_cli.run(name, parsed, jobs=1).stage(name).rows == len(SENTENCES)


def test_punctuation_goes_where_the_parse_says(parsed):
    only = {"clause_weight": 1.0, "subject_weight": 0.0, "repeat_weight": 0.0, "final_weight": 0.0}
    store = augment_cli.run("pi", parsed, stage="pi-clause", jobs=1, **only)
    made = store.read("pi-clause").to_pylist()
    assert made[2]["text"] is None  # a comma stands there
    only |= {"clause_weight": 0.0, "subject_weight": 1.0, "quote_share": 0.0}
    store = augment_cli.run("pi", parsed, stage="pi-subject", jobs=1, **only)
    assert store.read("pi-subject")["text"].to_pylist()[0] == "Marie, lit un livre."


@pytest.mark.parametrize("name", LACK)
def test_what_lacks_rules_says_so_before_anything_is_made(parsed, french, name, tmp_path):
    with pytest.raises(UsageError, match=rf"^{name}: {LACKS}.*\bpi, ") as refused:
        augment_cli.run(name, parsed, jobs=1)
    assert "\n" not in str(refused.value)
    said = str(refused.value).rpartition(" run ")[2].split(", ")
    assert set(NEEDS_NONE) <= set(said) and not set(said) & set(LACK)
    assert name not in Store.open(parsed).stages()


def test_in_memory_and_with_a_pipeline_that_has_not_parsed_yet(french, command, tmp_path):
    with pytest.raises(UsageError, match=f"negation: {LACKS}"):
        augment_cli.augment(SENTENCES, "negation", pipeline=french)
    assert augment_cli.augment(SENTENCES, "pi", pipeline=french).num_rows == len(SENTENCES)
    (tmp_path / "in.txt").write_text("\n".join(SENTENCES) + "\n", "utf-8")
    result = command("tense", "--corpus", "in.txt", "--pipeline", french)
    assert result.returncode == 2 and "tense: has rules for en" in result.stderr
    assert not (tmp_path / "store").exists()


ENGLISH = {
    "requests": [
        "how do i change my pin",
        "my card has not arrived yet",
        "where can i get cash",
        "top up failed",
    ],
    "tweets": [
        "omg cant believe @justinbieber is comin 2 my town!!! #belieber #hype",
        "RT @nasa: Watch live as Crew-9 docks https://t.co/xyz #ISS",
        "lol u guys r so funny 😂😂 gr8 nite",
    ],
    "product titles": [
        "Samsung Galaxy S21 Ultra 5G 128GB Phantom Black SM-G998U",
        "Cuisinart DLC-10SY Pro Classic 7-Cup Food Processor White",
        "Anker PowerCore 10000mAh USB-C Powerbank",
    ],
    "names": ["Maria Gonzalez", "Wei Zhang", "Fatima Al-Sayed", "Oluwaseun Adeyemi", "Anna Kowalska"] * 4,
    "too little to tell": ["Ein Satz."],
}
OTHERS = {
    "Chinese": ["今天天气很好，我们去公园散步。", "这家银行的利率是多少？", "他不会来参加明天的会议。"],
    "Russian": ["Сегодня хорошая погода, и мы идём в парк.", "Какая процентная ставка в этом банке?"],
    "German": [
        "Das Unternehmen hat gestern neue Zahlen vorgelegt.",
        "Warum wurde meine Karte abgelehnt, obwohl genug Guthaben vorhanden war?",
        "Die Kinder spielen jeden Nachmittag draußen im Garten.",
        "Bosch Akkuschrauber mit zwei Akkus und Koffer",
        "wo finde ich meine rechnung und wie kann ich sie bezahlen",
    ],
    "French": [
        "Un homme portant un casque de sécurité est en train de danser.",
        "Une femme coupe des tranches de pain dans la cuisine.",
        "Le gouvernement annonce de nouvelles mesures économiques pour les ménages.",
        "Pourquoi ma carte a-t-elle été refusée hier soir ?",
        "Deux chiens courent dans un champ avec leurs jouets.",
    ],
}


@pytest.mark.parametrize("kind", ENGLISH)
def test_what_is_written_in_english_passes(kind):
    assert against(ENGLISH[kind], "en") == ""


@pytest.mark.parametrize("language", OTHERS)
def test_what_is_not_does_not(language):
    assert against(OTHERS[language], "en")
    assert (against(OTHERS[language], "zh") == "") == (language == "Chinese")
    assert against(OTHERS[language], "sv") == ""  # of which nothing is known here


def test_a_parse_by_another_language_is_warned_of_and_its_rules_are_refused(tmp_path):
    store = store_of(tmp_path, OTHERS["Chinese"] * 4, part_rows=5)
    with Session(store.path, Engine(1), told := Told()) as session:
        session.parse()
        assert "is for English" in told.warnings[0] and "--pipeline NAME" in told.warnings[0]
        with pytest.raises(UsageError, match="0% of its letters are Latin"):
            session.augment(make_run("pi"))
    (tmp_path / "english").mkdir()
    english = store_of(tmp_path / "english", ENGLISH["requests"] * 4)
    with Session(english.path, Engine(1), quiet := Told()) as session:
        session.parse()
    assert not quiet.warnings


def test_a_recipe_of_such_rules_is_refused_before_anything_is_made(tmp_path):
    store = store_of(tmp_path, OTHERS["Chinese"] * 4)
    with pytest.raises(UsageError, match=r"pi: .*English"):
        run_recipe("default", store.path, jobs=1)
    assert {*store.open(store.path).stages()} == {"corpus", "rejects"}


@pytest.mark.parametrize("name", ["aa", "pi", "synonym"])
def test_texts_in_memory_are_refused_alike(name):
    with pytest.raises(UsageError, match=r"English.*anyway= insists"):
        augment_cli.augment(OTHERS["Chinese"], name)
    assert len(augment_cli.augment(OTHERS["Chinese"], name, anyway=True)) == len(OTHERS["Chinese"])


@pytest.mark.parametrize("name", ["aa", "pi", "synonym"])
def test_a_stage_of_rules_is_refused_before_anything_is_parsed(tmp_path, name):
    store = store_of(tmp_path, OTHERS["Chinese"] * 4, part_rows=5)
    with Session(store.path, Engine(1)) as session, pytest.raises(UsageError, match=r"English.*--anyway"):
        session.augment(make_run(name))
    assert {*session.store.stages()} == {"corpus", "rejects"}
    with Session(store.path, Engine(1)) as session:
        session.augment(make_run("random-swap"))
        if name == "synonym":
            session.augment(make_run(name, anyway=True))
            session.augment(make_run(name))  # it is there


WITH_RULES = ("aa", "dn")
LANGUAGES = list(registered().values())
TEXTS = ["A heron waits", "the boats don 't stop", "", "her red coat , was ; lost", "他 不 会 来 。"]


def test_a_grammar_is_a_language():
    folders = list(Path(languages.__file__).parent.glob("*/grammar.py"))
    assert {"en", "zh"} <= registered().keys() and len(folders) == len(LANGUAGES)  # no code is there twice


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_the_facts_of_a_language(language):
    assert len(language.code) == 2 and language.code.islower() and language.name.istitle()
    marks = (language.comma, language.opening, language.closing, language.exclamation)
    assert all(mark and not any(map(str.isalnum, mark)) for mark in marks)
    edges = [edge for ends in language.script for edge in ends]
    assert edges == sorted(edges) and all(edge > 0x7F for edge in edges)
    for name in WITH_RULES:
        rules, descriptor = getattr(language, name), augmentations.get(name)
        modes = modes_of(descriptor)
        assert rules.keys() <= set(modes) and (not rules or "faithful" in rules)
        assert (language.code in descriptor.languages) == bool(rules)


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
@pytest.mark.parametrize("name", ["pi", *WITH_RULES])
def test_rules_answer_for_any_parse(language, name):
    descriptor = augmentations.get(name)
    if descriptor.languages and language.code not in descriptor.languages:
        pytest.skip(f"{language.name} has no rules for {name}")
    rows = parsed_rows(TEXTS * 8, [made_up_row(text, seed) for seed, text in enumerate(TEXTS * 8)])
    parses = ParseRows(**{**vars_of(rows.parses), "languages": (language,)})
    alone = Rows(rows.row_ids, rows.texts, rows.code_points, parses=parses)
    for mode in modes_of(descriptor):
        prepared = descriptor.prepare(descriptor.parameters(mode=mode), Resources(42, 0))
        made = as_table(descriptor, alone, prepared(alone)).to_pylist()
        for row in made:
            assert (row["text"] is None) == (row["reason"] in set(Reason)) == (row["rule"] is None)


def modes_of(descriptor):
    return next(item for item in declared(descriptor.parameters) if item.name == "mode").metadata["choices"]


def vars_of(parses):
    return {name: getattr(parses, name) for name in ParseRows.__dataclass_fields__}


@pytest.mark.parametrize(
    ("pipeline", "code"),
    [
        ("en_core_web_sm", "en"),
        ("zh_core_web_sm", "en"),  # of the rows that its script does not tell
        ("xx_sent_ud_sm", "en"),
        ("sv_core_news_sm", "sv"),
    ],
)
def test_the_language_of_a_pipeline(pipeline, code):
    assert language_of(pipeline).code == code
    told = [language.code for language in languages_of(pipeline)]
    assert told[-1] == code and "zh" in told[:-1]


def test_rows_are_told_apart_by_their_script_and_only_there():
    rows = parsed_rows(TEXTS, [made_up_row(text, 0) for text in TEXTS])
    parses = ParseRows(**{**vars_of(rows.parses), "languages": languages_of("sv_core_news_sm")})
    view = ClauseView.of(parses)
    told = {language.code: np.flatnonzero(mine).tolist() for language, mine in view.by_language}
    assert told["zh"] == [4] and told["sv"] == [0, 1, 2, 3]
    assert view.in_language(lambda language: not language.has_spaces).tolist() == [False] * 4 + [True]
