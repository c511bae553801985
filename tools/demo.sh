#!/bin/sh
# Indexes the sample documents and asks four questions, showing each command as one would type it.
#
# usage: tools/demo.sh RAG_APP CORPUS
set -eu

rag_app=$1
corpus=$2

show() {
    printf '\n\033[1m$ rag-app'
    for word in "$@"; do
        case $word in
        *' '*) printf ' "%s"' "$word" ;;
        *) printf ' %s' "$word" ;;
        esac
    done
    printf '\033[0m\n'
    "$rag_app" "$@"
}

rm -rf "$corpus"
show index data/samples --corpus "$corpus"
show ask "Why was the budget cut?" --corpus "$corpus"
show ask "When is the launch of Heron now?" --corpus "$corpus"
show ask "May notice of termination be emailed?" --corpus "$corpus"
show ask "How much does the managing director of Tarnwick earn?" --corpus "$corpus"

printf '\nThe corpus is in %s. Ask it something of your own:\n' "$corpus"
printf '    %s ask "..." --corpus %s\n' "$rag_app" "$corpus"
