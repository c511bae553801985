"""`python -m rag_app` is the command line."""

from rag_app.cli.main import main

main()
