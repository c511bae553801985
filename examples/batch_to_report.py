"""Ask many questions and write all answers as one HTML page.

python examples/batch_to_report.py data/samples questions.txt report.html

Each answer is saved at once: after a crash, the same command resumes.
"""

import sys
from pathlib import Path

from rag_app import Corpus
from rag_app.batch.answer_file import read_answers
from rag_app.batch.questions import read_questions
from rag_app.batch.report import write
from rag_app.batch.run import run


def main(folder: str, questions: str, report: str) -> None:
    """Ask the questions of a file, one a line, of the documents in a folder."""
    answers = Path(report).with_suffix(".jsonl")
    with Corpus("my-corpus") as corpus:
        corpus.add([folder])
        summary = run(corpus, read_questions(Path(questions)), answers)
    write(Path(report), read_answers(answers))
    print(f"{summary.answered} answered, {summary.abstained} of them with an abstention: {report}")


if __name__ == "__main__":
    main(*sys.argv[1:])
