"""From a data set to a model that recovers, and the test of it (paper §5.3, appendix G)."""
