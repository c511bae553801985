#!/bin/sh
# Trains the reader and fits what joins it with the rest: train.sh PYTHON DATA FOLDER. Resumes.
set -eu
reading="$2/reading/train.jsonl.gz"
meetings="$2/qmsum/train.jsonl"
run() { script=$1; shift; "$PYTHON" "training/reader/$script" "$reading" --meetings "$meetings" "$@"; }
PYTHON=$1
run train_reader.py --folder "$3" --steps 2526
run train_reader.py --folder "$3" --cooldown 400 --out "$3/reader.safetensors"
cp "$3/reader.safetensors" generator/reader/reader.safetensors
run fit_ranking.py --folder "$3/fit"
