"""Chinese: words and rules of its own for AA and DN; PI's rules are those of English with Chinese marks.

Nothing is inflected. The paper names Chinese data but no word lists: those here are this project's own,
written for the labels of the Chinese treebanks of Universal Dependencies (GSD and GSDSimp).
"""

import numpy as np

from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Answer, Draw, pick
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.language import Language
from augment_cli.syntax.tree import Role, any_of, words
from augment_cli.text.spans import EditList

AUXILIARIES = ("必须", "不得不", "需要", "应该", "应当")
# The one that goes with a completed or lasting action.
COMPLETED = ("不得不",)
_MODALS = words("会 能 可以 可 可能 能够 要 需 需要 须 必须 应 应该 应当 想 敢 肯 愿 愿意")
_ASPECTS = words("了 过 着")
_NEGATIVE_WORDS = words("不 没 没有 未 别 并未 并不 从未 从不 並不 從未 從不 沒 沒有 別")
_NEGATIVE_CHARACTERS = "不没沒未无無"
_HAVE = "有"
_ASKING = words("？ ? 吗 嗎 呢 什么 什麼 谁 誰 哪 哪里 怎么 怎麼 怎样 几 幾 多少 为什么 為什麼 如何")


def auxiliary(
    view: ClauseView, rows: np.ndarray, draw: Draw, names: tuple[str, ...], edits: EditList
) -> Answer:
    """An auxiliary in place of a modal, else in front of the verb and the prepositional phrases before it."""
    parses = view.parses
    answer = Answer.empty(len(parses))
    roots = view.roots[rows]
    modal = view.first(_children(view, Role.AUXILIARY, _MODALS))[rows]
    completed = view.any(_children(view, Role.AUXILIARY, _ASPECTS))[rows]
    verbal = parses.pos.among({"VERB", "AUX"})[roots]
    negated = view.any(view.negations & view.of_root)[rows]
    helping = np.flatnonzero((view.roles == Role.AUXILIARY) & view.of_root)
    checked = np.append(helping, roots)
    starts_negated = parses.forms_at(checked).where(lambda form: form[:1] in _NEGATIVE_CHARACTERS)
    negated |= view.any(view.mask(checked[starts_negated]))[rows]

    reasons = np.select([~verbal & (modal < 0), negated], [Reason.NO_FINITE_VERB, Reason.NEGATED], "")
    answer.reasons[rows] = reasons
    good = np.flatnonzero(reasons == "")
    rows, roots, modal, completed = rows[good], roots[good], modal[good], completed[good]

    table = (*(names or AUXILIARIES), *(names or COMPLETED))
    few = len(names or COMPLETED)
    many = len(table) - few
    uniforms = draw(0)[rows]
    chosen = np.where(completed, many + pick(uniforms, few), pick(uniforms, many))
    replaced = modal >= 0
    places = _in_front_of_verb(view, rows, roots)
    starts = np.where(replaced, parses.starts[modal], places)
    ends = np.where(replaced, parses.ends[modal], places)
    edits.replace(rows, starts, ends, table, chosen)
    answer.rules[rows] = np.where(replaced, "modal", "verb")
    return answer


def affirmation(
    view: ClauseView, rows: np.ndarray, draw: Draw, names: tuple[str, ...], edits: EditList
) -> Answer:
    """确实 or 的确 (indeed) where an auxiliary would go: in front of the verb, and of a modal."""
    answer = Answer.empty(len(view.parses))
    roots = view.roots[rows]
    modal = view.first((view.roles == Role.AUXILIARY) & view.of_root)[rows]
    verbal = view.parses.pos.among({"VERB", "AUX"})[roots]
    asks, negated = _asks_or_denies(view, rows)
    reasons = np.select(
        [~verbal, asks, negated], [Reason.NO_FINITE_VERB, Reason.QUESTION, Reason.NEGATED], ""
    )
    answer.reasons[rows] = reasons
    good = reasons == ""
    rows, roots, modal = rows[good], roots[good], modal[good]
    places = _in_front_of_verb(view, rows, roots)
    starts = np.where(modal >= 0, np.minimum(view.parses.starts[modal], places), places)
    edits.replace(rows, starts, starts, ["确实", "的确"], pick(draw(0)[rows], 2))
    answer.rules[rows] = "adverb"
    return answer


def _asks_or_denies(view: ClauseView, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """bool (m,) each: rows with a word that asks; with a negation of the main verb."""
    asks = view.any(view.parses.forms.among(_ASKING))
    return asks[rows], view.any(view.negations & view.of_root)[rows]


def assured(view: ClauseView, rows: np.ndarray, draw: Draw, edits: EditList) -> Answer:
    """会 (will) as 不会不: the one modal of Chinese that two negations leave as it was."""
    answer = Answer.empty(len(view.parses))
    will = view.first(_children(view, Role.AUXILIARY, words("会")))[rows]
    asks, negated = _asks_or_denies(view, rows)
    answer.reasons[rows] = np.select(
        [asks, negated], [Reason.QUESTION, Reason.NEGATED], Reason.NO_RULE_APPLIES
    )
    good = (will >= 0) & ~negated & ~asks
    rows, will = rows[good], will[good]
    starts, ends = view.parses.starts[will], view.parses.ends[will]
    edits.replace(rows, starts, ends, ["不会不"], np.zeros(len(rows), np.int64))
    answer.rules[rows] = "auxiliary+verb"
    return answer


def negation(view: ClauseView, rows: np.ndarray, draw: Draw, edits: EditList) -> Answer:
    """Algorithm 3 with Chinese words: the first negation goes, "不" or "没" comes in; two edits or none."""
    # 他不会来 to 他会不来: the negation of the modal goes, one before the verb comes in.
    parses, owner = view.parses, view.rows
    count = len(parses)
    answer = Answer.empty(count)
    chosen = view.row_mask(rows)
    maybe = np.flatnonzero(chosen[owner] & ~parses.pos.among({"PUNCT", "NOUN", "PROPN"}))
    forms = parses.forms_at(maybe)
    helping = any_of(view.roles, (Role.AUXILIARY, Role.ROOT))[maybe]
    whole = forms.among(_NEGATIVE_WORDS) & ~(
        forms.among({"没有", "沒有"}) & parses.pos.among({"VERB"})[maybe]
    )
    first_character = forms.where(_is_negated_word) & helping
    negative = view.mask(maybe[whole | first_character | forms.among({"没有", "沒有"})])
    deleted = view.first(negative)[rows]
    deleted = deleted[deleted >= 0]
    has_deleted = view.row_mask(owner[deleted])

    modal = (forms.among(_MODALS) | forms.among({"被"})) & (view.roles[maybe] == Role.AUXILIARY)
    roots = view.roots[rows]
    kinds = np.full(len(owner), -1, np.int8)
    kinds[maybe[modal]] = 0
    verbal = parses.pos.among({"VERB", "AUX", "ADJ"})[roots]
    kinds[roots] = np.where(verbal, 1, 2)
    kinds[negative] = -1  # a word that holds a negation, deleted or not, takes none
    candidates = np.flatnonzero(kinds >= 0)
    needed = np.where(has_deleted, 1, 2)
    before = np.concatenate([[0], np.cumsum(kinds >= 0)])
    rank = before[candidates] - before[parses.offsets[:-1][owner[candidates]]]
    enough = np.bincount(owner[candidates], minlength=count) >= needed
    taken = candidates[(rank < needed[owner[candidates]]) & enough[owner[candidates]]]
    changed = chosen & enough
    answer.reasons[rows] = Reason.ONE_NEGATION_ONLY

    deleted = deleted[changed[owner[deleted]]]
    only_first = parses.forms_at(deleted).where(lambda form: form not in _NEGATIVE_WORDS)
    only_first |= parses.pos.among({"VERB"})[deleted]
    ends = np.where(only_first, parses.starts[deleted] + 1, parses.ends[deleted])
    edits.replace(owner[deleted], parses.starts[deleted], ends, [""], np.zeros(len(deleted), np.int64))
    _put_in(view, taken, kinds[taken], edits)
    answer.rules[changed] = np.where(has_deleted[changed], "delete+negate", "negate+negate")
    answer.reasons[rows[~enough[rows] & ~has_deleted[rows] & (needed[rows] > 2)]] = Reason.NO_RULE_APPLIES
    return answer


def _is_negated_word(form: str) -> bool:
    """不会, 未能, 不是: a modal, copula or 有 with its negation in one word; not 不同 or 不断."""
    return form[:1] in tuple(_NEGATIVE_CHARACTERS) and (form[1:] in _MODALS or form[1:] in {"是", _HAVE})


def _put_in(view: ClauseView, tokens: np.ndarray, kinds: np.ndarray, edits: EditList) -> None:
    parses, owner = view.parses, view.rows
    completed = view.any(_children(view, Role.AUXILIARY, words("了 过")))
    forms = parses.forms_at(tokens)
    at = np.where(
        forms.where(lambda form: len(form) > 1 and form[-1] in "是有"),
        parses.ends[tokens] - 1,
        parses.starts[tokens],
    )
    rows = owner[tokens]
    has = forms.where(lambda form: form[-1:] == _HAVE)
    did = completed[rows] & (kinds == 1) | has | forms.among({"被"})
    front = kinds == 2
    at = np.where(front, parses.starts[parses.offsets[rows]], at)
    edits.replace(rows, at, at, ["不", "没", "并非"], np.select([front, did], [2, 1], 0))


def _children(view: ClauseView, role: Role, wanted: frozenset[str]) -> np.ndarray:
    """bool (N,): children of the main verb with a role and one of some forms."""
    tokens = np.flatnonzero((view.roles == role) & view.of_root)
    return view.mask(tokens[view.parses.forms_at(tokens).among(wanted)])


def _in_front_of_verb(view: ClauseView, rows: np.ndarray, roots: np.ndarray) -> np.ndarray:
    """Where an auxiliary goes: before the first prepositional phrase behind the subject, else the verb."""
    # A copula such as 也是 takes it in front of its last character.
    parses, owner = view.parses, view.rows
    left, right = view.edges
    subjects = view.subjects[owner]
    positions = np.arange(len(owner))
    main = view.roots[owner]
    behind_subject = (subjects < 0) | (left > right[subjects])
    between = view.of_root & (positions < main) & behind_subject & (left > parses.offsets[:-1][owner])
    prepositional = parses.pos.among({"ADP"})[left] & (left < positions)
    passive = parses.deps.among({"aux:pass"})
    first = view.first(between & (prepositional | passive))[rows]
    words_at = parses.forms_at(roots)
    copula = words_at.where(lambda form: len(form) > 1 and form[-1] == "是")
    at_verb = np.where(copula, parses.ends[roots] - 1, parses.starts[roots])
    return np.where(first >= 0, parses.starts[left[first]], at_verb)


CHINESE = Language(
    code="zh",
    name="Chinese",
    comma="，",
    opening="“",
    closing="”",
    exclamation="！",
    has_spaces=False,
    script=((0x3400, 0x9FFF), (0x20000, 0x3FFFF)),  # ideographs
    joined_clauses=frozenset({"acl", "xcomp", "relcl"}),
    shortest_clause=3,
    joining=frozenset({"ADV", "AUX", "DET", "PART"}),
    # The other modes are for English: here they are the paper's.
    aa={"faithful": affirmation, **dict.fromkeys(("paper", "literal", "v3", "v3_verb"), auxiliary)},
    dn={"faithful": assured, **dict.fromkeys(("paper", "v3"), negation)},
)
