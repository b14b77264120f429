"""Rules and words of a language are not let loose on text of another one, unless somebody insists."""

import pytest

import augment_cli
from augment_cli.api import run_recipe
from augment_cli.engine.engine import Engine
from augment_cli.errors import UsageError
from augment_cli.languages import against
from augment_cli.process.reporter import Silent
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from tests.helpers.made_stores import store_of

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


class Told(Silent):
    """Keeps what it is warned of."""

    def __init__(self) -> None:
        self.warnings = []

    def warn(self, message):
        self.warnings.append(message)


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
