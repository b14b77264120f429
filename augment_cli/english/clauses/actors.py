"""Who does what to whom: persons, animals, groups and names, and the verbs of what one does to another."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa

from augment_cli.english.clauses.clause_rules import Arguments
from augment_cli.resources.wordnet import NOUN, load_wordnet
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.tree import words

_ANIMAL, _PERSON, _NAME = 5, 18, -2  # lexicographer files noun.animal and noun.person
_PERSONS = words("i you he she we they me him her us them")
# What one person, animal or group, or one name, does to another; a switch says something else, and reads as a
# sentence. Verbs that say what something is, has, or is called are not among them.
_ACTIONS = words(
    "succeed influence visit hit outwit outvote depose jail banish bully mentor coach "
    "abandon accuse address admire adore advise aid annex annoy answer arrest ask assassinate assault "
    "attack beat befriend besiege betray bite blame bless bother bribe buy capture carry catch "
    "challenge chase cheat cheer comfort command condemn confront congratulate conquer convert "
    "convict convince criticise criticize crush curse deceive defeat defend defy delight denounce "
    "despise destroy dislike dismiss disturb dominate dread educate encourage endorse entertain envy "
    "escort exile expel fire flatter follow forget forgive free frighten grab greet guard guide hate "
    "hear help hire honor honour hug hunt hurt ignore impress imprison inform inspire instruct insult "
    "interrogate interrupt interview invade invite kick kidnap kill kiss knock know like liberate "
    "lift love mock mourn murder notice nominate nurse obey observe offend oppose oust outlive "
    "outnumber overtake overthrow overpower persuade persecute pity please poison praise precede "
    "promote protect provoke pull punish pursue push recall recognize recommend recruit remember "
    "rescue resent respect reward rob rule salute save scare scold see seduce seize shelter shoot spy "
    "stab sue support surprise surround suspect tackle teach tease thank threaten torture track train "
    "trap trick trust understand urge warn watch welcome whip worship wound telephone outrank summon "
    "slap hail reprimand replace pinch leave find stop"
)
# The same where a preposition stands between.
_DIRECTED = words(
    "apologise apologize bow complain glance gaze glare laugh listen look nod point rely shout smile speak "
    "stare surrender wave whisper wink write yell"
)
_ADDRESSING = words("at to for on upon after towards toward from behind by")
_OF_NAMES = (14, 18)  # lexicographer files: noun.group, noun.person
_GROUPS = words(
    "army band brigade club committee company congregation corps council couple court crew crowd family "
    "fleet force garrison gang government group infantry jury ministry navy parliament party police "
    "regiment senate squad squadron team tribe troop union"
)


@lru_cache(maxsize=1)
def _files() -> dict[str, int]:
    """Lexicographer file of each noun's most frequent sense."""
    wordnet = load_wordnet()
    entries = np.flatnonzero((wordnet.entry_parts == NOUN) & (np.diff(wordnet.entry_senses) > 0))
    files = wordnet.synset_files[wordnet.sense_synsets[wordnet.entry_senses[entries]]]
    lemmas = wordnet.lemmas.take(pa.array(entries)).to_pylist()
    return dict(zip(lemmas, files.tolist(), strict=True))


def file_of(lemma: str) -> int:
    """Lexicographer file of a noun's most frequent sense, or −1."""
    word = lemma.lower()
    return _files().get(word, _files().get(word.removesuffix("s"), -1))


def kinds_of(view: ClauseView, heads: np.ndarray) -> np.ndarray:
    """int64 (m,): what sort of thing each noun names, by WordNet's files; names are one sort."""
    parses = view.parses
    kinds = parses.lemmas_at(heads).map(file_of, np.int64)
    kinds[parses.lower_at(heads).among(_PERSONS)] = _PERSON
    kinds[parses.tags.at(heads).among({"NNP", "NNPS"})] = _NAME
    return kinds


def is_action(
    view: ClauseView, arguments: Arguments, subjects: np.ndarray, objects: np.ndarray
) -> np.ndarray:
    """bool (m,): whether both are persons, animals, groups or names, and the verb is what these do."""
    parses = view.parses
    verbs = view.roots[view.rows[subjects]]
    kinds = kinds_of(view, subjects), kinds_of(view, objects)
    pronoun = parses.pos.at(subjects).among({"PRON"}) | parses.pos.at(objects).among({"PRON"})
    alike = _may_act(view, subjects) & _may_act(view, objects) & ((kinds[0] == kinds[1]) | pronoun)
    # `You love these horses`, but not `These horses love you`
    alike &= ~(pronoun & ((kinds[0] == _ANIMAL) | (kinds[1] == _ANIMAL)))
    lemmas = parses.lemmas_at(verbs).lowered()
    direct = arguments.direct_objects[objects]
    acts = lemmas.among(_ACTIONS)
    marks = np.flatnonzero(parses.deps.among({"case", "prep", "agent"}))
    case = np.full(len(view.roles), -1)
    case[view.parents[marks]] = marks
    mark = np.where(
        parses.deps.at(view.parents[objects]).among({"prep", "agent"}), view.parents[objects], case[objects]
    )
    prepositions = parses.lower.at(np.maximum(mark, 0))
    by = prepositions.among({"by"})
    passive = view.any(parses.deps.among({"aux:pass", "auxpass"}) & view.of_root)[view.rows[subjects]]
    directed = lemmas.among(_DIRECTED) & prepositions.among(_ADDRESSING) & ~by & ~passive
    prepositional = (mark >= 0) & np.where(passive, by & lemmas.among(_ACTIONS), directed)
    particle = view.any(parses.deps.among({"prt", "compound:prt"}) & view.of_root)[view.rows[subjects]]
    return alike & np.where(direct, acts, prepositional) & ~particle


def _may_act(view: ClauseView, heads: np.ndarray) -> np.ndarray:
    """bool (m,): persons, animals, groups and names; not a bare noun (`managing director`), nor `it`."""
    parses = view.parses
    determined = view.with_child(parses.deps.among({"det", "poss", "nmod:poss", "nummod"}))
    # `spectators`, `an excellent cook`: any, of whom another sentence is true.
    bare = parses.tags.at(heads).among({"NN", "NNS"}) & ~determined[heads]
    bare |= view.with_child(parses.lower.among(words("a an any another every some")))[heads]
    # "this Sertorius": soon after this, he ...
    this = view.with_child(parses.lower.among({"this", "that"}))
    kinds = kinds_of(view, heads)
    # `the Talmud`, `Honorary Doctorates`, `a CLI SAPI` are written as names are.
    files = parses.lemmas_at(heads).map(file_of, np.int64)
    shouted = parses.forms_at(heads).where(lambda form: len(form) > 1 and form.isupper())
    names = (kinds == _NAME) & ~this[heads] & ((files < 0) | np.isin(files, _OF_NAMES)) & ~shouted
    acts = np.isin(kinds, (_ANIMAL, _PERSON)) | names | parses.lemmas_at(heads).lowered().among(_GROUPS)
    return acts & ~bare & ~parses.lower_at(heads).among({"it", "this", "that", "these", "those"})
