"""The search itself: `minimize`, `Optimizer`, campaigns of restarts, stop criteria, loops and results."""
