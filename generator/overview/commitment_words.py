"""The words by which people decide, take something on, hand it out, and leave a question open.

English and German. Made for few false finds rather than for all: what is said in other words is
not found.
"""

from __future__ import annotations

import re

from indexing.text.english import MONTHS, ORDINALS, TENS, UNITS

_FLAGS = re.IGNORECASE | re.VERBOSE
_APOSTROPHE = r"['\u2019]"
_LETTER = "A-Z\u00c0-\u00d6\u00d8-\u00de"  # capitals
_TASKS = rf"""(?:
      send | e-?mail | mail | forward | circulate | distribute | post | upload | submit | deliver
    | write\s+(?:up|it|that|this|a|an|the|to) | draft | prepare | compile | summari[sz]e | document
    | put\s+together | make\s+a\s+(?:list|copy|table|summary|draft) | collect | gather
    | check\s+(?!what|we|that|it|this|you) | verify | find\s+out | look\s+into | investigate
    | research | review | test | run\s+the | re-?run | redo | rewrite | revise | update | fix
    | finish(?!\s+up) | complete | implement | install | print | copy | publish | work\s+on
    | call\s+(?:him|her|them|back|up|the\b) | phone | ring | contact | get\s+in\s+touch
    | get\s+back\s+to(?!\s+(?:my|it|that|this|the)\b) | report\s+back | follow\s+up
    | (?:talk|speak)\s+(?:to|with) | ask\s+(?!you\b)(?:\S+\s+){{0,3}}(?:if|whether|for|about)
    | arrange | organi[sz]e | schedule | set\s+up | book | order | sign\s+up | bring
    | take\s+care\s+of | hand\s+(?:over|in|out) | provide | chase | buy | pick\s+up(?!\s+where)
    | apply\s+for | pay(?!\s+attention) | thank\s+the | invite | reserve | hire | repair
    | confirm(?!\s+that) | cancel | sort\s+out | liaise | give\s+(?:\S+\s+){{1,3}}a\s+(?:ring|call)
    | let\s+(?!{_APOSTROPHE}?s\b)\S+\s+know
    )\b"""
_ADVERBS = r"""(?:\s+(?:then|also|definitely|certainly|probably|try\s+to|make\s+sure\s+to
    |go\s+and|be\s+sure\s+to|please))*\s+"""
_WILL = rf"(?:{_APOSTROPHE}ll|\s+will|\s+shall)"
_ONE_NAME = rf"[{_LETTER}][\w.\u2019'-]*\w"
NAME = rf"(?:(?:Herr|Frau|Mrs?|Ms|Dr)\.?\s)?{_ONE_NAME}(?:\s(?:(?:von|van|de)\s)?{_ONE_NAME})?"
"""A name as text has it, of two words at most."""
NAMES = rf"{NAME}(?:(?:,|\s+(?:and|und|&))\s+{NAME})*"

PROMISE = re.compile(
    rf"\bI(?:{_WILL}|(?:{_APOSTROPHE}m|\s+am)\s+going\s+to){_ADVERBS}{_TASKS}"
    r"|\bich\s+(?:\w+\s+)?(?:kümmere\s+mich|übernehme|schicke|schreibe|bestelle|frage|kläre|prüfe"
    r"|besorge|organisiere|erstelle|rufe|melde|bringe)\b",
    _FLAGS,
)
PROMISE_UNTIL = re.compile(
    rf"\bI{_WILL}\s+(?!be\b|see\b|meet\b)[a-z]+|\bich\s+(?:werde|mache|habe)\b", re.IGNORECASE
)
_GERMAN_TASK = r"""(?:übernimmt|kümmert\s+sich|organisiert|besorgt|bestellt|schickt|verschickt
    |schreibt|prüft|klärt|erstellt|informiert|reserviert|bucht|kauft|beantwortet|entwirft|fragt
    |beauftragt|spricht\s+mit|(?:holt|lädt|bereitet|stellt|legt|ruft)\s(?:.{3,80}\s)?(?:ein|vor
    |zusammen|an)(?=[\s.,]|$)|wird\s+gebeten|(?:wird|soll|muss)\s.{3,120}(?<!\bge)[a-zäöü]+en
    (?=[.,]?\s*(?:\(|$)))"""
NAMED = re.compile(
    rf"""(?<![\w.])(?P<who>(?-i:{NAMES}))(?:
      (?:{_WILL}|\s+is\s+(?:going\s+)?to|\s+(?:agreed|offered|undertook|promised|volunteered
        |has|have|needs|is\s+asked|was\s+asked|are)\s+to){_ADVERBS}{_TASKS}
    | \s+(?:takes?\s+on|took\s+on|will\s+take\s+on|takes?\s+care\s+of|is\s+responsible\s+for)\b
    | \s+{_GERMAN_TASK})""",
    _FLAGS,
)
"""Somebody who is known is to do something."""
NAMED_TO = re.compile(rf"^[^\w]*(?P<who>{NAMES})\s+to{_ADVERBS}{_TASKS}", re.VERBOSE)
"""The same in minutes: "Maren to send the letter"."""
TO_DO = re.compile(rf"(?P<who>{NAMES})(?:\s+to\s+[a-z]|(?:\s+will|\s+shall)\s+[a-z])")
"""Whoever it is, below a label that says it is an action: "Maren to write"."""
_OTHERWISE = r"(?!.*\b(?:I|we|you|is|was|are|were|did|has|have|ich|wir|ist|war|sind)\b)"
NAMED_UNTIL = (
    re.compile(rf"(?P<who>{NAMES})\s+(?!was\b|is\b|has\b)[a-z]+s\s"),
    re.compile(rf"(?P<who>{NAMES})\s+(?!hat\b|ist\b)[a-zäöüß]+t\s(?=.*\bbis\b)"),
    re.compile(rf"^(?P<who>{NAME}),\s{_OTHERWISE}(?=.*\b(?:by|before|bis)\s)"),
)
"""Somebody who is known does something, which counts if it says until when."""
REQUEST = re.compile(
    rf"""(?:^|[,.;]\s|\b(?:so|and|then)\s+)(?:(?P<who>(?-i:{NAME})),\s+)?(?:
      (?:(?:can|could|will|would)\s+you|you{_APOSTROPHE}ll){_ADVERBS}{_TASKS}
    | (?:kannst|könntest|können)\s+(?:du|sie)\b.{{3,80}}\w+en\b)
    .*?(?:,\s+(?P<name>(?-i:{NAME})))?\s*[?.]*$""",
    _FLAGS,
)
ACCEPTANCE = re.compile(
    r"(?:sure|yes|yeah|yep|of\s+course|will\s+do|ok(?:ay)?|no\s+problem|happy\s+to|gladly|certainly"
    rf"|I{_WILL}|I\s+can|all\s+right|ja|klar|gern|mach(?:e)?\s+ich|in\s+ordnung)\b",
    _FLAGS,
)
LABEL = re.compile(
    r"""(?<![\w-])(?:action(?:\s+(?:item|point))?|to-?do|AP|Aufgabe|Auftrag
        |Maßnahme|Arbeitsauftrag)
    (?:\s*\#?\d+)?\s*(?:[(\[](?P<who>[^()\[\]]{2,80})[)\]])?\s*(?:\*\*|__)?:(?:\*\*|__)?""",
    _FLAGS,
)

_VALUE = rf"\d|\b(?:{'|'.join((*UNITS[2:], *TENS, *ORDINALS, *MONTHS))})\b"
_VERBS = r"(?:decided|agreed|resolved|voted)"
_GOING_TO = rf"""(?:we(?:{_APOSTROPHE}ll|\s+will|(?:{_APOSTROPHE}re|\s+are)\s+going\s+to)
    |let{_APOSTROPHE}s)"""
_OPENING = r"""(?:^|[,.;:}\u2013\u2014-]\s*|\b(?:so|and|but|well|okay|ok|now|then|yeah|yes|um|uh|erm
    |also|basically|finally|time|meeting|today|yesterday|therefore)\s+)"""
_BODY = (
    "(?:board|committee|council|group|team|members|panel|society|vorstand|ausschuss|rat"
    "|versammlung|verein|gremium|mitglieder)"
)
DECISION = re.compile(
    rf"""
      {_OPENING}we(?:{_APOSTROPHE}ve|\s+have)?(?:\s+(?:all|also|just|already|now|therefore|finally))*
        \s+(?:{_VERBS}|settled|opted|chosen|chose)\s+(?:(?:last|this)\s+\w+\s+)?(?:on\s+the\s+phone
        \s+)?(?:to|that|on|for|not|against|the)\b
    | \bit(?:{_APOSTROPHE}s|\s+was|\s+is|\s+has)\s+(?:been\s+)?{_VERBS}\s+(?:to|that)\b
    | \b(?:it|that)(?:{_APOSTROPHE}s|\s+is)\s+(?:{_VERBS}|settled)(?:\s+then)?\s*[:,]
    | \b(?:the|our)\s+decision\s+(?:is|was)\b
    | \b{_BODY}\s+(?:has\s+|have\s+)?(?:{_VERBS}\s+(?:to|that|on|not|against)
        |(?:approved|adopted|rejected|chose|accepted)\s+(?:the|a|to))\b
    | \bmotion\s+(?:is\s+|was\s+)?(?:carried|agreed\s+to|adopted|defeated)\b
    | \b{_GOING_TO}\s+(?:then\s+)?go\s+(?:with|for)\b
    | \b(?:moves?|goes|comes\s+down|goes\s+up|(?:is|was)\s+(?:moved|raised|cut|postponed|reduced))
        \s+from\s(?=.{{0,30}}(?:{_VALUE})).{{2,60}}\sto\b(?=.{{0,40}}(?:{_VALUE}))
    | ^\W*{_VERBS}(?:\*\*|__)?(?:\s+unanimously)?(?:\s+(?:that|to)\b|\s*:)
    | \bdecisions?(?:\*\*|__)?\s*:
    | (?<!-)\bbeschl(?:uss|üsse)(?:\s+[\d./-]+)?(?:\*\*|__)?\s*:
    | \b{_BODY}\s+beschlie(?:ß|ss)t\b
    | \b(?:wurde|wird|hat|haben|ist|worden)\b.{{0,160}}\b(?:beschlossen|vereinbart|entschieden
        |festgelegt|verabschiedet)\b
    | \beinig(?:te|ten|en)\s+(?:man\s+)?sich\s+(?:darauf|auf)\b
    | \bantrag\b.{{0,160}}\b(?:angenommen|abgelehnt|genehmigt)\b""",
    _FLAGS,
)
AT_END = (
    "beschlossen", "vereinbart", "entschieden", "festgelegt", "verabschiedet", "angenommen",
    "abgelehnt", "genehmigt",
)  # fmt: skip
"""Words of a decision before which it says what is decided."""
ANNOUNCED = re.compile(
    r"(?:so\s+|then\s+|right,?\s+|good,?\s+)?(?:it(?:['\u2019]s|\s+is)\s+|that(?:['\u2019]s|\s+is)\s+)?"
    r"(?:decided|agreed|carried|settled|beschlossen|angenommen)(?:\s+then)?\s*[.!]?",
    re.IGNORECASE,
)
"""A sentence that says no more than that it is decided: what, the next one says."""

_ASKS = r"(?:whether|if|who|what|when|where|how|which)"
QUESTION = re.compile(
    rf"""
      \b(?:open|outstanding|unresolved)\s+(?:question|issue|point|matter)s?\b(?:\*\*|__)?\s*
        (?::|\bis\b|\bremains?\b)
    | \b(?:remains?|is\s+still|was\s+left|are\s+still)\s+(?:open|unclear|unresolved
        |undecided|unknown)\b
    | \b(?:still|yet)\s+to\s+be\s+(?:decided|clarified|settled|resolved|confirmed)\b
    | \bwe\s+(?:still\s+(?:do\s+not|don{_APOSTROPHE}t)|(?:do\s+not|don{_APOSTROPHE}t)\s+yet)\s+know
        \b.{{0,20}}?\b{_ASKS}\b
    | \bno\s+(?:decision|agreement|conclusion|answer)\b.{{0,40}}\b(?:yet|so\s+far)\b
    | \b(?:not\s+(?:yet\s+)?(?:been\s+)?|still\s+un)(?:decided|clarified|resolved|settled)
        \s+{_ASKS}\b
    | (?:^|[.!?]\s)\W*(?:offene\s+frage|zu\s+klären|ungeklärt|offen)n?(?:\*\*|__)?\s*:
    | \b(?:bleibt|ist|blieb|sind)\s+(?:noch\s+|weiterhin\s+)?(?:offen|unklar|ungeklärt
        |zu\s+klären)\b
    | \boffen\s+(?:ist|bleibt|blieb|war)\b
    | \bnoch\s+nicht\s+(?:geklärt|entschieden|klar)\b
    | \bnoch\s+(?:geklärt|entschieden)\s+werden\b
    | \b(?:wissen|weiß)\s+(?:\w+\s+)?noch\s+nicht\b""",
    _FLAGS,
)

UNCERTAIN = re.compile(
    r"""\b(?:if|unless|whether|would|could|might|may|should|never|until|once|maybe|perhaps|suppose
    |supposed|had|because|cause|think|thought|says?|said|when|why|which|what|how
    |(?:have|has|had|did)n['\u2019]t|ob|falls|wenn|könnte\w*|würde\w*|sollte\w*|vielleicht|hätte\w*
    |hatte\w*|nicht|kein\w*)\b
    |\b(?:have|did|do)\s+we\b""",
    _FLAGS,
)
ERRAND = re.compile(
    r"\b(?:lunch|break|coffee|tea|dinner|presentations?|slides?|questions?|answer)\b", re.IGNORECASE
)

HEADINGS = {
    "action": re.compile(
        r"(?:agreed\s+|open\s+|new\s+)?(?:actions?(?:\s+(?:items?|points?|list))?|next\s+steps|to-?dos?|tasks"
        r"|aufgaben|maßnahmen|nächste\s+schritte|arbeitsaufträge)",
        re.IGNORECASE,
    ),
    "decision": re.compile(
        r"(?:key\s+)?(?:decisions?(?:\s+(?:made|taken))?|resolutions?|beschlüsse|entscheidungen)",
        re.IGNORECASE,
    ),
    "question": re.compile(
        r"(?:open|outstanding|unresolved)(?:\s+(?:questions?|issues?|points?|matters?))?"
        r"|parking\s+lot|offene\s+(?:fragen|punkte)|zu\s+klären|ungeklärt(?:es)?",
        re.IGNORECASE,
    ),
}
"""Headings below which each item is one, by kind."""

COLUMNS = {
    "what": re.compile(
        r"(?:actions?|action\s+items?|tasks?|to-?do|what|aufgaben?|maßnahmen?|was)", re.I
    ),
    "who": re.compile(
        r"(?:who|owner|responsible|assigned(?:\s+to)?|assignee|wer|verantwortlich\w*|zuständig\w*)",
        re.I,
    ),
    "when": re.compile(
        r"(?:when|by\s+when|due(?:\s+date)?|deadline|until|bis(?:\s+wann)?|frist|termin|fällig\w*)",
        re.I,
    ),
}
"""Names of the columns of a table of actions."""
AFTER = re.compile(
    rf"(?:[(\[\u2013\u2014-]\s*|(?:owner|assigned\s+to|responsible|verantwortlich|zuständig)\s*:?\s+)"
    rf"(?P<who>(?-i:{NAMES}))(?:,[^()\[\]]{{0,60}})?\s*[)\]]?\s*\.?\s*$",
    re.IGNORECASE,
)
"""Whoever it is, behind an item: "(Maren)", "- Maren"."""
PROPOSAL = re.compile(
    r"\bI\s+(?:propose|suggest|move\s+that)\b|\b(?:ich\s+schlage|wir\s+schlagen)\b.{0,120}\bvor\b",
    re.IGNORECASE,
)
"""What is decided where the next sentence says that nobody is against it."""
