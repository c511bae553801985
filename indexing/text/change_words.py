"""Words that tell of a change, of what stays as it is, and of what is only talked about; values."""

from __future__ import annotations

import re

from indexing.text.days.stated_date import MONTH
from indexing.text.english import ORDINALS, TENS, UNITS

CHANGE = re.compile(
    r"\b(?:now|instead|(?:we|to|will) (?:move|change)|mov(?:ed|es|ing)|chang(?:ed|es|ing)"
    r"|postponed?"
    r"|put(?:ting|s)?\b.{0,40}? (?:off|back|forward)"
    r"|no longer|in place of|replaces?|revised|new|(?:but|and) not|resolved|decided|agreed|reduced"
    r"|raised|increased|(?:down|up) from|after all|stays|confirmed|takes over"
    r"|(?:go|goes|going|went) back to|reverts?|(?<=, )final(?=[,.;]|$)"
    r"|(?:comes?|goes?|brings? \w+) (?:down |up )?to (?=[£$€]?\d)"
    r"|in (?:his|her|their) place|from .{3,40} to|from (?:today|now)(?: on)?"
    r"|jetzt|neue?[nrms]?|nun|statt|anstelle|verschoben|geändert|beschlossen|bestätigt|übernimmt"
    r"|gesenkt|erhöht|nicht mehr)\b",
    re.IGNORECASE,
)
KEPT = re.compile(
    r"\b(?:keeps?|stays?|stayed|remains?|remained|stick|unchanged|as (?:it is|before|planned)"
    r"|bleib(?:t|en)|geblieben|unverändert)\b",
    re.IGNORECASE,
)
AGREED = re.compile(
    r"\b(?:agreed|decided|accepted|carried|no objections?|nobody objected|done"
    r"|einverstanden|angenommen|beschlossen)\b",
    re.IGNORECASE,
)
PAST = re.compile(
    r"\b(?:originally|at first|initially|previously|formerly|used to|back (?:then|when)|until now"
    r"|still (?:say|give|show|list|mention|ha[sv]e?|think|thought)s?|out of date|outdated|had been"
    r"|(?:old|first|original|earlier|previous|last year's) (?:plan|version|draft|letter|list|one)s?"
    r"|ursprünglich\w*|zuerst|anfangs|früher\w*|damals|veraltet|steht noch)\b",
    re.IGNORECASE,
)
TALK = re.compile(
    r"\b(?:propos(?:ed|es?|al)|suggest(?:ed|s|ion)?|the idea of|would (?:have )?like"
    r"|ask(?:ed)? (?:for|if|whether)|wanted|wished|whether|could|might|what if|should (?:we|it|the)"
    r"|offered|motion|considered|favou?red|argued|refused|rejected|turned down|voted down|declined"
    r"|decided against|withdrawn|dropped the|schl(?:ug|ägt) vor|vorgeschlagen|vorschlag|wünscht\w*"
    r"|wollte\w*|hätte|könnte|abgelehnt|verworfen)\b",
    re.IGNORECASE,
)
NUMBER = re.compile(
    rf"\d[\d.,:]*|\b(?:{'|'.join((*UNITS, *TENS, *ORDINALS, 'hundred', 'thousand', 'million'))}"
    rf"|{MONTH})\b",
    re.IGNORECASE,
)
