"""`python -m warex`, for when the `warex` script is not on the PATH."""

from warex.cli import main

main()
