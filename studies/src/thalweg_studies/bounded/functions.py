"""All bounded test functions."""

from thalweg_studies.bounded.edges import EDGES
from thalweg_studies.bounded.multimodal import MULTIMODAL
from thalweg_studies.bounded.unimodal import UNIMODAL

FUNCTIONS = {each.name: each for each in (*UNIMODAL, *MULTIMODAL, *EDGES)}
"""The functions by name: several in 2 to 20 dimensions, with the minimum inside, on a face and in a corner of the box."""
