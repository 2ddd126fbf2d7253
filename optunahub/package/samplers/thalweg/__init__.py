"""The sampler of Thalweg, for `optunahub.load_module("samplers/thalweg")`."""

from thalweg.integrations.optuna import ThalwegSampler

__all__ = ["ThalwegSampler"]
