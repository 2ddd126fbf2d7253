"""The report on the paper's experiments: figures, sections, and the full report."""
