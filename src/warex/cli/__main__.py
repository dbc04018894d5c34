"""`python -m warex.cli`, for where the `warex` script is not on the PATH."""

from warex.cli import main

main()
