"""The version of WAREX. Older Pythons read this file, too, when they build the package."""

VERSION = "0.1.0"
"""The package's metadata has it from here.

Asking the metadata for it loads a parser of e-mail, which takes longer than any part of a lane.
"""
