"""The published scores of all-MiniLM-L6-v2, to the second decimal, with the real model and the real data."""

import hashlib

import numpy as np
import pytest
import torch

from augment_cli.encoding.loading import load_encoder
from augment_cli.neural.loading import MINILM_PACKAGE
from eval import runner
from eval.contract import Options, Progress
from eval.protocols.sts import stsb
from eval.tasks import choose_tasks, load_registry, read_tables

PUBLISHED = {"sts12": "72.37", "sts13": "80.60", "sts14": "75.59", "sts15": "85.39", "stsb": "82.03"}


def scores(data_folder, precision):
    tasks = choose_tasks(load_registry(), list(PUBLISHED))
    tables, _ = read_tables(tasks, data_folder)
    encoder = load_encoder(MINILM_PACKAGE, precision=precision)
    assert (encoder.pooling, encoder.max_length) == ("mean", 256)
    vectors = runner.Vectors(encoder, tables, Options(), Progress())
    return {
        table.task.name: 100 * runner.score_task(table, vectors, Options(), Progress()).main
        for table in tables
    }


@pytest.mark.slow
def test_published_spearman_to_the_second_decimal_and_in_bf16_to_a_tenth(data_folder):
    torch.set_num_threads(2)
    measured = scores(data_folder, "fp32")
    assert {name: f"{score:.2f}" for name, score in measured.items()} == PUBLISHED
    for name, score in scores(data_folder, "bf16").items():
        assert abs(score - float(PUBLISHED[name])) < 0.1, name


def test_what_the_trainer_calls_gives_the_same_as_the_task(data_folder):
    """Whatever the vectors: here the bytes of each text's digest."""

    def encode(texts):
        digests = b"".join(hashlib.blake2b(text.encode()).digest() for text in texts)
        return np.frombuffer(digests, np.int8).reshape(len(texts), -1).astype(np.float32)

    tables, _ = read_tables([load_registry()["stsb-dev"]], data_folder)
    score = runner.score_task(tables[0], encode, Options(), Progress())
    assert stsb(encode, data_folder).spearman == score.main
    assert score.scores["pairs_main-forums"] == 375
