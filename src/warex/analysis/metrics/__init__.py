"""Every metric, each written down once: name, meaning, unit, computation."""
