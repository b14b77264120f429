"""What additions have in common: settings that are refused, and terms that a run learns alone."""

import numpy as np
import pytest

from augment_cli.errors import UsageError
from tests.helpers.cached_vectors import add_vectors
from tests.helpers.training import draw, logged_run
from train.loading import make_recipe

OTHER_POSITIVES = {"discriminator": {"stages": ["una"]}, "loss": "symmetric"}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"contrastive_weight": 0}, "contrastive_weight = 0 leaves nothing to learn"),
        ({"cosent": {}}, r"\[cosent\] needs positives of other texts than the anchors"),
        ({"decay": {}}, r"\[decay\] needs negatives, and a loss that takes them as columns"),
        (
            {"positives": ["pi"], "discriminator": {"stages": ["una"], "positive": "augmented"}},
            "takes the place of positives",
        ),
        (
            {"discriminator": {"stages": ["una"], "target": "class"}},
            "choose one of augmentation, bool, order",
        ),
        ({"gaussian_negatives": {"count": 0}}, "must be at least 1"),
        ({"guide": {"margin": -0.1}}, r"\[guide\]: margin = -0.1 must be at least 0"),
        ({"guide": {}} | OTHER_POSITIVES, "which chooses other positives"),
        ({"latent_augmentation": {"strength": 2}}, r"strength = 2.0 must be at most 1"),
        ({"loss": "nt-xent", "momentum": {}}, r"\[momentum\] adds columns"),
        ({"momentum": {"rate": 1.5}}, r"rate = 1.5 must be at most 1"),
        ({"batch": 16, "neighbourhood": {"neighbours": 16}}, "at most batch − 1 = 15"),
        ({"head": "batch-norm", "neighbourhood": {}}, "batch-norm"),
        ({"compile": True, "pca_jitter": {}}, "does not go with compile"),
        ({"ranking": {"teacher_temperature": 0}}, r"\[ranking\]: teacher_temperature = 0.0 must be above 0"),
        ({"ranking": {"consistency": -1}}, r"\[ranking\]: consistency = -1.0 must be at least 0"),
        ({"ranking": {}} | OTHER_POSITIVES, "which chooses other positives"),
        ({"repetition": {"rate": 0}}, "rate = 0"),
        ({"soft_negative": {}}, "needs a stage"),
        ({"soft_negative": {"stage": "dn", "least": 0.5}}, "least must not be above most"),
        ({"head": "none", "turned": {}}, r"turned.*needs stages"),
        (
            {"turned": {"stages": ["negation"], "partners": ["self:swap"]}},
            "partners: 'swap' is not read; it may name self, negation",
        ),
    ],
)
def test_settings_that_make_no_sense_are_refused(values, message):
    with pytest.raises(UsageError, match=message):
        make_recipe(values)


TEACHER = {"vectors": "teacher", "temperature": 0.2, "teacher_temperature": 0.2}


@pytest.mark.parametrize(
    ("name", "table", "is_learned"),
    [
        ("teacher", TEACHER, lambda first, last: last < first - 0.05),
        ("ranking", TEACHER, lambda first, last: last < first - 0.05),
        ("cosine_regression", {"vectors": "teacher"}, lambda first, last: last < 0.8 * first),
    ],
)
def test_a_term_may_be_all_that_a_run_learns(store_copy, tiny_encoder, tmp_path, name, table, is_learned):
    add_vectors(store_copy, "corpus", draw(150, 5 if name == "cosine_regression" else 4), "teacher")
    values = {"steps": 20, "contrastive_weight": 0.0, "learning_rate": 3e-3, "dropout": 0.0, name: table}
    result, events = logged_run(store_copy, tiny_encoder, tmp_path / "run", values)
    terms = [event[f"{name}_loss"] for event in events if f"{name}_loss" in event]
    assert is_learned(np.mean(terms[:3]), np.mean(terms[-9:]))
    if name == "teacher":  # which reads each text once: there are no two views whose loss could be said
        assert not any("loss" in event for event in events)
    assert set(result.facts["data"]) == {"corpus", "vectors-teacher"}
