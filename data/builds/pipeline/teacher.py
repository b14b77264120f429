"""The teacher: a pretrained sentence encoder fine-tuned into a tagger, lemmatizer and parser; its batches.

A small BERT (all-MiniLM-L6-v2) with linear heads for tags and lemmas and a biaffine head for trees (Dozat &
Manning 2017, Deep Biaffine Attention for Neural Dependency Parsing). It is too slow and too large to ship,
but better than what can ship: the shipped student learns from the trees it gives to plain sentences. The
encoder lower-cases, so what case and spacing say is embedded beside the pieces.
"""

import math
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import AutoModel, AutoTokenizer

from data.builds.pipeline.treebank import SAME, Sentence, apply_script, lemma_script

CASES = 12  # see case_class
LONGEST = 480  # pieces; the encoder has 512 positions
IGNORED = -100  # label of a padded word in every loss


def case_class(word: str, after_space: bool) -> int:
    """Return what the encoder's lower-casing hides of a word, 0 to 11."""
    if any(character.isdigit() for character in word):
        shape = 0
    elif word.islower():
        shape = 1
    elif word.istitle() and len(word) > 1:
        shape = 2
    elif word.isupper():
        shape = 3 if len(word) > 1 else 4
    else:
        shape = 5
    return 2 * shape + after_space


@dataclass
class Labels:
    """The label sets of the heads, in the order of the output units."""

    features: list[str]  # "UPOS|Features"
    tags: list[str]
    lemmas: list[str]  # lemma scripts
    deps: list[str]

    @classmethod
    def collect(cls, sentences: Iterable[Sentence]) -> "Labels":
        """Collect all labels of a treebank; lemma scripts only where they occur twice."""
        features, tags, lemmas, deps = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
        for sentence in sentences:
            features.update(f"{p}|{m}" for p, m in zip(sentence.pos, sentence.morphs, strict=True))
            tags.update(sentence.tags)
            lemmas.update(map(lemma_script, sentence.words, sentence.lemmas))
            deps.update(sentence.deps)
        scripts = sorted({SAME} | {script for script, count in lemmas.items() if count > 1})
        return cls(sorted(features), sorted(tags), scripts, sorted(deps))


@dataclass
class Batch:
    """Padded tensors of some sentences: B sentences, P pieces, W words."""

    pieces: Tensor  # (B, P) ids
    mask: Tensor  # (B, P) 1 where there is a piece
    cases: Tensor  # (B, P)
    first: Tensor  # (B, W) position of each word's first piece
    last: Tensor  # (B, W)
    words: Tensor  # (B, W) bool: there is a word
    gold: dict[str, Tensor]  # each (B, W)


class Batcher:
    """Turns sentences into `Batch`es for one encoder and label set."""

    def __init__(self, tokenizer: Any, labels: Labels) -> None:
        self.tokenizer, self.labels = tokenizer, labels
        self.known: dict[str, list[int]] = {}
        self.units = {
            name: {label: unit for unit, label in enumerate(getattr(labels, name))}
            for name in ("features", "tags", "lemmas", "deps")
        }

    def pieces(self, word: str) -> list[int]:
        """Return the piece ids of one word, at least one."""
        if word not in self.known:
            ids = self.tokenizer(word, add_special_tokens=False)["input_ids"]
            self.known[word] = ids[:16] or [self.tokenizer.unk_token_id]
        return self.known[word]

    def fits(self, sentence: Sentence) -> bool:
        """Whether the encoder has positions enough."""
        return sum(len(self.pieces(word)) for word in sentence.words) <= LONGEST

    def batch(self, sentences: Sequence[Sentence], gold: bool) -> Batch:
        """Pad some sentences into one batch, with their gold labels where `gold`."""
        columns: dict[str, list[list[int]]] = {name: [] for name in ("pieces", "cases", "first", "last")}
        for sentence in sentences:
            pieces, cases, first, last = [self.tokenizer.cls_token_id], [0], [], []
            before = True
            for word, space in zip(sentence.words, sentence.spaces, strict=True):
                ids = self.pieces(word)
                first.append(len(pieces))
                pieces += ids
                cases += [case_class(word, before)] * len(ids)
                last.append(len(pieces) - 1)
                before = space
            for name, values in (
                ("pieces", [*pieces, self.tokenizer.sep_token_id]),
                ("cases", [*cases, 0]),
                ("first", first),
                ("last", last),
            ):
                columns[name].append(values)
        lengths = [len(sentence.words) for sentence in sentences]
        labels: dict[str, Tensor] = {}
        if gold:
            labels["heads"] = pad(
                [[0 if head == i else head + 1 for i, head in enumerate(s.heads)] for s in sentences], IGNORED
            )
            for name, unit in self.units.items():
                labels[name] = pad([self._gold(s, name, unit) for s in sentences], IGNORED)
        return Batch(
            pieces=pad(columns["pieces"], self.tokenizer.pad_token_id),
            mask=pad([[1] * len(row) for row in columns["pieces"]], 0),
            cases=pad(columns["cases"], 0),
            first=pad(columns["first"], 0),
            last=pad(columns["last"], 0),
            words=pad([[1] * length for length in lengths], 0).bool(),
            gold=labels,
        )

    @staticmethod
    def _gold(sentence: Sentence, name: str, unit: dict[str, int]) -> list[int]:
        if name == "features":
            values = [f"{p}|{m}" for p, m in zip(sentence.pos, sentence.morphs, strict=True)]
        elif name == "lemmas":
            values = list(map(lemma_script, sentence.words, sentence.lemmas))
        else:
            values = getattr(sentence, name)
        return [unit.get(value, IGNORED) for value in values]


def pad(rows: list[list[int]], value: int) -> Tensor:
    """Return rows of different lengths as one matrix."""
    longest = max(map(len, rows))
    return torch.tensor([row + [value] * (longest - len(row)) for row in rows])


def by_length(sentences: Sequence[Sentence], words: int) -> list[list[int]]:
    """Group the sentences' indices, sorted by length, so that each group pads to at most `words` words."""
    groups: list[list[int]] = []
    for index in sorted(range(len(sentences)), key=lambda i: len(sentences[i].words)):
        if not groups or (len(groups[-1]) + 1) * len(sentences[index].words) > words:
            groups.append([])
        groups[-1].append(index)
    return groups


class Teacher(nn.Module):
    """Encoder and heads; word 0 of the biaffine's heads is the root's virtual word."""

    def __init__(self, encoder: Any, labels: Labels, arc: int = 256, label: int = 96) -> None:
        super().__init__()
        width, layers = encoder.config.hidden_size, encoder.config.num_hidden_layers
        self.encoder, self.labels = encoder, labels
        self.case = nn.Embedding(CASES, width)
        nn.init.zeros_(self.case.weight)
        self.mix = nn.Parameter(torch.zeros(layers))
        self.join = nn.Linear(2 * width, width)
        self.dropout = nn.Dropout(0.2)
        self.linear = nn.ModuleDict(
            {name: nn.Linear(width, len(getattr(labels, name))) for name in ("features", "tags", "lemmas")}
        )
        self.root = nn.Parameter(torch.randn(width) * 0.02)
        self.arc_head, self.arc_word = self._projection(width, arc), self._projection(width, arc)
        self.label_head, self.label_word = self._projection(width, label), self._projection(width, label)
        self.arc = nn.Parameter(torch.zeros(arc + 1, arc))
        self.relation = nn.Parameter(torch.zeros(len(labels.deps), label + 1, label + 1))
        nn.init.normal_(self.arc, std=1 / arc)
        nn.init.normal_(self.relation, std=1 / label)

    @staticmethod
    def _projection(width: int, size: int) -> nn.Sequential:
        return nn.Sequential(nn.Linear(width, size), nn.GELU(), nn.Dropout(0.33))

    def embed(self, batch: Batch) -> Tensor:
        """Return word vectors, shape (B, W, width)."""
        pieces = self.encoder.get_input_embeddings()(batch.pieces) + self.case(batch.cases)
        states = self.encoder(
            inputs_embeds=pieces, attention_mask=batch.mask, output_hidden_states=True
        ).hidden_states[1:]
        weights = self.mix.softmax(0)
        mixed = sum(weight * state for weight, state in zip(weights, states, strict=True))
        rows = torch.arange(len(batch.pieces))[:, None]
        ends = torch.cat([mixed[rows, batch.first], mixed[rows, batch.last]], dim=-1)
        return self.dropout(F.gelu(self.join(self.dropout(ends))))

    def arcs(self, words: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the scores of heads, (B, W, W + 1), and the words with the root before them."""
        root = self.root.to(words.dtype).expand(len(words), 1, -1)
        heads = torch.cat([root, words], dim=1)
        one = torch.ones_like(words[..., :1])
        word = torch.cat([self.arc_word(words), one], -1)
        scores = word @ self.arc.to(words.dtype) @ self.arc_head(heads).transpose(1, 2)
        allowed = F.pad(mask, (1, 0), value=True)[:, None, :]
        return scores.float().masked_fill(~allowed, -1e4), heads

    def relations(self, words: Tensor, heads: Tensor, chosen: Tensor) -> Tensor:
        """Return the scores of dependency labels under the chosen heads, (B, W, labels)."""
        rows = torch.arange(len(words))[:, None]
        head, word = self.label_head(heads[rows, chosen]), self.label_word(words)
        one = torch.ones_like(word[..., :1])
        head, word = torch.cat([head, one], -1), torch.cat([word, one], -1)
        return torch.einsum("bwi,lij,bwj->bwl", word, self.relation.to(word.dtype), head).float()

    def loss(self, batch: Batch) -> Tensor:
        """Return the mean cross-entropy of all five heads, summed."""
        words = self.embed(batch)
        scores, heads = self.arcs(words, batch.words)
        gold = batch.gold
        total = F.cross_entropy(scores.flatten(0, 1), gold["heads"].flatten(), ignore_index=IGNORED)
        relations = self.relations(words, heads, gold["heads"].clamp(min=0))
        total = total + F.cross_entropy(relations.flatten(0, 1), gold["deps"].flatten())
        for name, layer in self.linear.items():
            total = total + F.cross_entropy(
                layer(words).float().flatten(0, 1), gold[name].flatten(), ignore_index=IGNORED
            )
        return total

    @torch.no_grad()
    def predict(self, batch: Batch) -> dict[str, Tensor]:
        """Return the best label of every head, each (B, W); heads count from 1, 0 is the root."""
        words = self.embed(batch)
        scores, heads = self.arcs(words, batch.words)
        chosen = scores.argmax(-1)
        best = {name: layer(words).argmax(-1) for name, layer in self.linear.items()}
        relations = self.relations(words, heads, chosen)
        root = self.labels.deps.index("ROOT")  # the label of words under the root, and of no others
        relations[..., root] = torch.where(chosen == 0, math.inf, -math.inf)
        return best | {"heads": chosen, "deps": relations.argmax(-1)}


def load_encoder(folder: Path) -> tuple[Any, Any]:
    """Load the pretrained encoder and its tokenizer from a local folder."""
    encoder = AutoModel.from_pretrained(folder, local_files_only=True, add_pooling_layer=False)
    return encoder.float(), AutoTokenizer.from_pretrained(folder, local_files_only=True)


def fine_tune(
    teacher: Teacher,
    batcher: Batcher,
    sentences: Sequence[Sentence],
    *,
    epochs: int,
    words: int = 800,
    encoder_rate: float = 1e-4,
    head_rate: float = 1e-3,
    seed: int = 42,
) -> Iterator[tuple[int, float]]:
    """Train on gold trees; yields (epoch, mean loss) after each epoch."""
    generator = random.Random(seed)
    # The pieces' embeddings stay: they are half of all parameters, and most pieces are rare in a treebank.
    teacher.encoder.get_input_embeddings().requires_grad_(False)
    inner = [p for p in teacher.encoder.parameters() if p.requires_grad]
    known = set(inner)
    outer = [p for p in teacher.parameters() if p.requires_grad and p not in known]
    optimizer = torch.optim.AdamW(
        [{"params": inner, "lr": encoder_rate}, {"params": outer, "lr": head_rate}],
        weight_decay=0.01,
        fused=True,
    )
    groups = by_length(sentences, words)
    steps = epochs * len(groups)
    warm = max(1, steps // 20)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warm, max(0.0, (steps - step) / (steps - warm)))
    )
    for epoch in range(epochs):
        teacher.train()
        generator.shuffle(groups)
        losses = []
        for group in groups:
            batch = batcher.batch([sentences[i] for i in group], gold=True)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = teacher.loss(batch)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(teacher.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
        yield epoch, math.fsum(losses) / len(losses)


def annotate(
    teacher: Teacher, batcher: Batcher, sentences: Sequence[Sentence], words: int = 4000
) -> list[Sentence]:
    """Return copies of the sentences with the teacher's tags, lemmas and trees, in the same order."""
    teacher.eval()
    labels = teacher.labels
    answers: list[Sentence | None] = [None] * len(sentences)
    for group in by_length(sentences, words):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            best = teacher.predict(batcher.batch([sentences[i] for i in group], gold=False))
        columns = {name: values.tolist() for name, values in best.items()}
        for row, index in enumerate(group):
            given = sentences[index]
            size = len(given.words)
            column = {name: values[row][:size] for name, values in columns.items()}
            features = [labels.features[unit].split("|", 1) for unit in column["features"]]
            scripts = [labels.lemmas[unit] for unit in column["lemmas"]]
            answers[index] = Sentence(
                text=given.text,
                words=given.words,
                spaces=given.spaces,
                lemmas=list(map(apply_script, scripts, given.words)),
                pos=[pos for pos, _ in features],
                morphs=[morph for _, morph in features],
                tags=[labels.tags[unit] for unit in column["tags"]],
                heads=[head - 1 if head else i for i, head in enumerate(column["heads"])],
                deps=[labels.deps[unit] for unit in column["deps"]],
            )
    return [answer for answer in answers if answer is not None]


def is_tree(heads: Sequence[int]) -> bool:
    """Whether there is exactly one root (its own head) and every word reaches it."""
    roots = [i for i, head in enumerate(heads) if head == i]
    if len(roots) != 1:
        return False
    reaches = {roots[0]}
    for word in range(len(heads)):
        path = []
        while word not in reaches and word not in path:
            path.append(word)
            word = heads[word]
        if word not in reaches:
            return False
        reaches.update(path)
    return True
