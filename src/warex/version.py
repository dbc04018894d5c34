"""The version of WAREX; the package's metadata has it from here.

Asking the metadata for it loads a parser of e-mail, which takes longer than any part of a lane.
"""

from typing import Final

VERSION: Final = "0.1.0"
