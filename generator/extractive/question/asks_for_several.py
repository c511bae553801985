"""Whether a question asks for several things, which an answer lists.

Words of English and German.
"""

from __future__ import annotations

import re

_NUMBER = r"(?:two|three|four|five|six|seven|eight|nine|ten|several)"
_VERB = r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|must|may|shall)"
_SINGULAR = r"(?:this|his|its|us|as|class|process|address|boss|bus|business|gas|loss|pass|press)"
_NO_NOUN = rf"(?!(?:{_SINGULAR}|{_VERB}|comes|gets|goes|lives|makes|means)\b)"
_ADJECTIVES = rf"(?:(?!(?:{_VERB}|the|our|we)\b)[\w'-]+ ){{0,2}}?"
_FORMS = (
    rf"(?:which|what) {_NUMBER} {_ADJECTIVES}\w+s\b",
    rf"which {_ADJECTIVES}{_NO_NOUN}\w+[^s\W]s\b(?! (?:is|was|does|has)\b)",
    rf"what {_NO_NOUN}[\w-]+[^s\W]s (?:of\b.*?\b)?(?!is\b|was\b){_VERB}\b",
    r"what (?:are|were)\b(?! (?:we|you|they|I|he|she|it)\b)",
    r"what (?:are|were) (?:we|you|they) (?:not )?allowed\b",
    r"what(?:'s| is| was| should be| must be| goes| belongs) (?:in|inside|on|part of|included)\b",
    r"who (?:all|are|were)\b",
    r"who(?:'s| is| was| sits| goes| came| comes) (?:in|on|there|with)\b",
    rf"(?:all|every one) (?:of (?:them|it|these|those)|(?:the )?{_NUMBER}|the \w+s)\b",
    r"one by one\b|tick everything\b",
    r"welche (?:zwei|drei|vier|fünf|sechs|sieben|\w+(?:e|en|er|s))\b",
    r"was (?:sind|waren)\b|wer (?:sind|waren|alles)\b",
)
_SEVERAL = re.compile(rf"\b(?:{'|'.join(_FORMS)})", re.IGNORECASE)


def asks_for_several(question: str) -> bool:
    """Whether more than one thing likely answers."""
    return _SEVERAL.search(" ".join(question.split())) is not None
