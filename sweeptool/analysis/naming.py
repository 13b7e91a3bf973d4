"""The name of a metric goes in; whether less of it is better comes out."""

from __future__ import annotations

import re

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_LESS = {"loss", "losses", "error", "errors", "err", "misclassification", "regret", "divergence", "deviance", "cost"}
_LESS |= {"time", "latency", "duration", "elapsed", "seconds", "secs", "delay", "overhead", "ttft", "tpot", "itl"}
_LESS |= {"perplexity", "ppl", "nll", "nloglik", "bpb", "bpc", "bpd", "crossentropy", "xent", "bce", "kl", "kld"}
_LESS |= {"mse", "rmse", "msle", "rmsle", "mae", "mape", "smape", "mase", "huber", "hinge", "brier", "ece", "mce"}
_LESS |= {"wer", "cer", "eer", "ter", "fpr", "fnr", "fid", "kid", "fad", "fvd", "lpips", "ade", "fde", "epe"}
_LESS |= {"aic", "bic"}
_ENDINGS = ("loss", "losses", "error", "errors", "time", "latency", "perplexity")  # mlogloss, merror, walltime
_OTHERS = {"gloss", "floss", "terror", "uptime", "lifetime", "realtime", "anytime", "sometime"}


def less_is_better(name: str) -> bool:
    """Say whether ``name`` is that of a loss, an error, a time or the like, by its words: ``val/logLoss``.

    What stands behind ``per`` is what it is divided by; ``neg_log_loss`` is how scikit-learn makes a score of a loss.
    """
    words = [word.lower() for word in _WORDS.findall(name)]
    if "likelihood" in words:
        return "neg" in words or "negative" in words
    if "neg" in words[:-1]:
        return False
    pairs = list(zip(["", *words], words, strict=False))
    return ("cross", "entropy") in pairs or any(before != "per" and _less(word) for before, word in pairs)


def _less(word: str) -> bool:
    return word in _LESS or (word.endswith(_ENDINGS) and word not in _OTHERS)
