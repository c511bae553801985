#!/bin/sh
# Trains the reader on a GPU and judges it: train.sh PYTHON DATA FOLDER.
set -eu
reading="$2/reading/train.jsonl.gz"
meetings="$2/qmsum/train.jsonl"
"$1" training/reader/train_reader.py "$reading" --meetings "$meetings" --folder "$3"
cp "$3/reader.safetensors" generator/reader/reader.safetensors
"$1" training/reader/reader_judge.py "$reading" --meetings "$meetings" --folder "$3"
