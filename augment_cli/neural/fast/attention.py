"""Attention that lets all beams of a sentence share the sentence's own keys and values.

Beam search asks the same encoded sentence k questions at every step. The usual implementation copies the
encoder's keys and values k times, and moves them whenever beams change places. Here cross-attention
accepts keys and values of B sentences beside queries of B·k beams: the k queries of a sentence become k
query positions of one attention.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from augment_cli.neural import fast

NAME = "augment_cli_shared_beams"


def shared_beams_attention(
    module: Any, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, **options: Any
) -> tuple[Tensor, None]:
    """Attention of B·k single queries (B·k, heads, 1, d) on B sentences' keys (B, heads, length, d)."""
    # Masks must be those of the B sentences, shape (B, 1, 1, length). With as many queries as keys this is
    # torch's scaled dot-product attention. Returns (B·k, 1, heads, d).
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    beams = query.shape[0] // key.shape[0]
    if beams == 1:
        return sdpa_attention_forward(module, query, key, value, attention_mask, **options)
    sentences, heads, width = key.shape[0], query.shape[1], query.shape[3]
    positions = query.reshape(sentences, beams, heads, width).transpose(1, 2)
    if (bias := options.get("position_bias")) is not None:  # T5: the same for every beam
        options["position_bias"] = bias.expand(-1, -1, beams, -1)
    # Without a mask the library would take several query positions for causal ones.
    output, _ = sdpa_attention_forward(
        module, positions, key, value, attention_mask, **(options | {"is_causal": False})
    )
    return output.reshape(query.shape[0], 1, heads, width), None


def share_beams(model: Any) -> bool:
    """Make a loaded model use this attention, where its architecture allows; whether it does."""
    if not (fast.is_on() and _is_there(model)) or not model._supports_sdpa:
        return False
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import sdpa_mask

    AttentionInterface.register(NAME, shared_beams_attention)
    AttentionMaskInterface.register(NAME, sdpa_mask)
    model.set_attn_implementation(NAME)
    return bool(model.config._attn_implementation == NAME)


def _is_there(model: Any) -> bool:
    read = {
        model: ("_supports_sdpa", "set_attn_implementation", "config._attn_implementation"),
        "transformers": ("AttentionInterface.register", "AttentionMaskInterface.register"),
        "transformers.integrations.sdpa_attention": ("sdpa_attention_forward",),
        "transformers.masking_utils": ("sdpa_mask",),
    }
    return all(fast.has("attention of many beams", owner, *names) for owner, names in read.items())
