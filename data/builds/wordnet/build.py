"""Make the compact tables of WordNet 3.0 that the package ships, with inflected forms.

    apt-get download wordnet-base wordnet-sense-index
    for package in wordnet-*.deb; do dpkg-deb -x $package wordnet; done
    pip install --constraint constraints.txt lemminflect
    python -m data.builds.wordnet.build --wordnet wordnet/usr/share/wordnet

Neither dpkg nor pip needs root. Any folder with WordNet 3.0's own files does (`index.*`, `data.*`,
`index.sense`, `cntlist.rev`, `*.exc`; formats wndb(5WN), senseidx(5WN), cntlist(5WN)). The result is the
same byte for byte with the pyarrow of constraints.txt.
"""

import argparse
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from augment_cli.resources import FOLDER
from augment_cli.resources.wordnet import TAGS
from data.builds import columns, write

PARTS = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
# Tags that lemminflect names for each part of speech, the base form first.
FORMS = {
    "n": ("NN", "NNS"),
    "v": ("VB", "VBZ", "VBD", "VBN", "VBG"),
    "a": ("JJ", "JJR", "JJS"),
    "r": ("RB", "RBR", "RBS"),
}
UNIVERSAL = {"n": "NOUN", "v": "VERB", "a": "ADJ", "r": "ADV"}
RELATIONS = {"@": "hypernyms", "@i": "instance_hypernyms", "&": "similar"}


@dataclass
class Synset:
    """One line of a data file."""

    part: str
    offset: int
    is_satellite: bool
    file_number: int
    words: list[str]
    pointers: dict[str, list[tuple[str, int]]] = field(default_factory=lambda: defaultdict(list))
    antonyms: list[tuple[int, tuple[str, int], int]] = field(default_factory=list)


def lines_of(path: Path) -> list[str]:
    """The lines of a file of WordNet's, without its licence."""
    return [line for line in path.read_text("ascii").splitlines() if not line.startswith(" ")]


def read_synsets(folder: Path, part: str) -> list[Synset]:
    """All synsets of a part of speech, in the order of their offsets."""
    synsets = []
    for line in lines_of(folder / f"data.{PARTS[part]}"):
        fields = line.partition(" | ")[0].split()
        count = int(fields[3], 16)
        words = [word.partition("(")[0].replace("_", " ") for word in fields[4 : 4 + 2 * count : 2]]
        synset = Synset(part, int(fields[0]), fields[2] == "s", int(fields[1]), words)
        place = 5 + 2 * count
        for _ in range(int(fields[place - 1])):
            symbol, offset, other, numbers = fields[place : place + 4]
            place += 4
            target = ("a" if other == "s" else other, int(offset))
            if symbol == "!":
                synset.antonyms.append((int(numbers[:2], 16), target, int(numbers[2:], 16)))
            elif symbol in RELATIONS:
                synset.pointers[RELATIONS[symbol]].append(target)
        synsets.append(synset)
    return synsets


def read_index(folder: Path, part: str) -> list[tuple[str, list[int]]]:
    """(lemma, offsets of its synsets by falling frequency), in the file's order."""
    entries = []
    for line in lines_of(folder / f"index.{PARTS[part]}"):
        fields = line.split()
        synset_count = int(fields[2])
        entries.append((fields[0].replace("_", " "), [int(offset) for offset in fields[-synset_count:]]))
    return entries


def read_counts(folder: Path) -> dict[tuple[str, str, int], int]:
    """How often each sense was tagged: (lemma, part of speech, offset) to a number."""
    tagged = (line.split() for line in lines_of(folder / "cntlist.rev"))
    by_key = {key: int(count) for key, _, count in tagged}
    counts = {}
    for line in lines_of(folder / "index.sense"):
        key, offset, _, _ = line.split()
        if key in by_key:
            lemma, _, rest = key.partition("%")
            part = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}[rest[0]]
            counts[lemma.replace("_", " "), part, int(offset)] = by_key[key]
    return counts


def read_exceptions(folder: Path, part: str) -> dict[str, list[str]]:
    """Irregular forms by lemma."""
    forms: dict[str, list[str]] = defaultdict(list)
    for line in lines_of(folder / f"{PARTS[part]}.exc"):
        form, *lemmas = line.split()
        for lemma in lemmas:
            forms[lemma].append(form)
    return forms


def guess_tags(part: str, form: str) -> list[str]:
    """Tags of a form of WordNet's exception list that lemminflect does not know."""
    if part == "n":
        return ["NNS"]
    if part == "v":
        return ["VBG"] if form.endswith("ing") else ["VBZ"] if form.endswith("s") else ["VBD", "VBN"]
    return [FORMS[part][2 if form.endswith("st") else 1]]


def inflect(lemma: str, part: str, exceptions: list[str]) -> dict[str, tuple[int, int]]:
    """Forms of a lemma: form to (bits of all tags it may have, bits of those it is the first choice for)."""
    import lemminflect

    known = lemminflect.getAllInflections(lemma, UNIVERSAL[part])
    if not known and part in "nv" and lemma.isalpha():
        known = lemminflect.getAllInflectionsOOV(lemma, UNIVERSAL[part])
    table: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    base, *others = FORMS[part]
    known = {tag: known.get(tag, ()) for tag in others}
    if part == "v":
        known["VBN"] = known["VBN"] or known["VBD"]
    for tag, forms in [(base, (lemma,)), *known.items()]:
        plain = [form for form in forms if form.isascii() and form.replace("-", "").isalpha()]
        for position, form in enumerate(plain):
            table[form][0] |= TAGS[tag]
            if position == 0:
                table[form][1] |= TAGS[tag]
    for form in exceptions:
        if form.isalpha() and form not in table:
            for tag in guess_tags(part, form):
                table[form][0] |= TAGS[tag]
    return {form: (bits, first) for form, (bits, first) in table.items()}


def is_plain(lemma: str) -> bool:
    """Whether a lemma is one lower-case word, so that it may stand for another."""
    return lemma.replace("-", "").isalpha() and lemma.islower() and lemma.isascii()


def save(path: Path, columns: dict[str, pa.Array]) -> None:
    codes = sorted(columns.keys() & {"part", "file_number", "bits", "first"})
    rows = len(next(iter(columns.values())))
    write(path, columns, use_dictionary=codes, row_group_size=rows, data_page_size=1 << 26)


def build(folder: Path, target: Path) -> None:
    """Read WordNet's files and write the tables."""
    target.mkdir(parents=True, exist_ok=True)
    synsets = [synset for part in PARTS for synset in read_synsets(folder, part)]
    number = {(synset.part, synset.offset): index for index, synset in enumerate(synsets)}
    counts = read_counts(folder)

    # Index files are lower-cased; the spelling (Paris, american, AIDS) stands in the synsets.
    entries: list[tuple[str, str]] = []
    senses: list[tuple[int, int, str, int]] = []  # entry, synset, spelling, count
    for part in PARTS:
        for lemma, offsets in read_index(folder, part):
            for offset in offsets:
                place = number[part, offset]
                spelling = next(word for word in synsets[place].words if word.lower() == lemma)
                senses.append((len(entries), place, spelling, counts.get((lemma, part, offset), 0)))
            entries.append((lemma, part))
    sense_number = {(synset, spelling.lower()): i for i, (_, synset, spelling, _) in enumerate(senses)}
    # The order of words within a synset, for those who ask for its first one.
    word_ranks = [[word.lower() for word in synsets[s].words].index(w.lower()) for _, s, w, _ in senses]

    antonyms = []
    for index, synset in enumerate(synsets):
        for source, target_key, destination in synset.antonyms:
            other = number[target_key]
            first = sense_number[index, synset.words[source - 1].lower()]
            antonyms.append((first, sense_number[other, synsets[other].words[destination - 1].lower()]))
    antonyms.sort()

    exceptions = {part: read_exceptions(folder, part) for part in PARTS}
    plain_entries = {entry for entry, _, spelling, _ in senses if is_plain(spelling)}
    forms = []
    for entry in sorted(plain_entries):
        lemma, part = entries[entry]
        for form, (bits, first) in inflect(lemma, part, exceptions[part][lemma]).items():
            forms.append((form, entry, bits, first))

    part_codes = {part: code for code, part in enumerate(PARTS)}
    parts = [(lemma, part_codes[part]) for lemma, part in entries]
    save(target / "entries.parquet", columns(parts, lemma=pa.string(), part=pa.int8()))
    spelled = [
        (entry, synset, None if word == entries[entry][0] else word, rank, count)
        for (entry, synset, word, count), rank in zip(senses, word_ranks, strict=True)
    ]
    types = {"entry": pa.int32(), "synset": pa.int32(), "spelling": pa.string(), "rank": pa.int8()}
    save(target / "senses.parquet", columns(spelled, **types, count=pa.int32()))
    related = {
        relation: pa.array(
            [[number[key] for key in synset.pointers[relation]] for synset in synsets], pa.list_(pa.int32())
        )
        for relation in RELATIONS.values()
    }
    described = [
        (part_codes[synset.part], synset.offset, synset.is_satellite, synset.file_number)
        for synset in synsets
    ]
    types = {"part": pa.int8(), "offset": pa.int32(), "is_satellite": pa.bool_(), "file_number": pa.int8()}
    save(target / "synsets.parquet", columns(described, **types) | related)
    save(target / "antonyms.parquet", columns(antonyms, sense=pa.int32(), antonym=pa.int32()))
    types = {"form": pa.string(), "entry": pa.int32(), "bits": pa.int16(), "first": pa.int16()}
    save(target / "forms.parquet", columns(forms, **types))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--wordnet", type=Path, required=True, help="folder with WordNet 3.0's files")
    parser.add_argument("--target", type=Path, default=FOLDER / "wordnet")
    options = parser.parse_args()
    build(options.wordnet, options.target)
