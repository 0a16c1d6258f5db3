#!/bin/sh
# Install Freshet from its source into an environment of its own: install.sh SOURCE ENVIRONMENT
# The Containerfile calls it; it works on any machine with Python 3.11 or newer.
set -eu
source=$1 environment=$2

python3 -m venv "$environment"
"$environment/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r "$source/requirements/base.txt"
wheels=$(mktemp -d)
python3 -m venv "$wheels/builder"
"$wheels/builder/bin/pip" install --quiet --disable-pip-version-check hatchling hatch-requirements-txt hatch-vcs
(cd "$source" && "$wheels/builder/bin/python" -m hatchling build -t wheel -d "$wheels")
"$environment/bin/pip" install --quiet --disable-pip-version-check --no-deps "$wheels"/freshet-*.whl
rm -rf "$wheels"
"$environment/bin/freshet" version
