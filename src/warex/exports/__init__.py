"""From traces to data sets that a model can be trained on (paper §4.2 and §5.3)."""
