"""Questions, sentences that answer them, and words of like meaning: what cosines are scaled by.

Written for this project; of meetings, reports, contracts, manuals and stories, so that no subject
decides.
"""

from __future__ import annotations

ANSWERS: tuple[tuple[str, str], ...] = (
    ("Why was the trip postponed?", "They put the journey off because the guide had fallen ill."),
    ("How much did the roof cost?", "Repairing the roof came to eighteen thousand crowns."),
    ("Who will order the chairs?", "I'll ask for the forty chairs tomorrow, said Lena."),
    ("When does the library close?", "The reading room shuts at nine in the evening."),
    ("What is the warranty period?", "Claims may be made for twenty-four months after delivery."),
    ("Where are the spare keys?", "You will find a second set of keys in the green cabinet."),
    ("How many visitors came in May?", "In May we counted 3,211 guests at the museum."),
    ("What did the inspector find?", "The inspection showed two cracked pipes in the cellar."),
    ("Which battery was chosen?", "So we go with the lithium cell, it is the lighter one."),
    ("What happens if rent is late?", "Overdue rent is charged with interest of four per cent."),
    ("Who wrote the opera?", "Its music was composed by a young teacher from Graz."),
    ("How is the filter cleaned?", "Rinse the filter under warm water and let it dry."),
    ("What do the neighbours complain about?", "People next door are annoyed by the noise."),
    ("What causes the disease?", "It is a fungus in damp soil that makes the plants sick."),
    ("Who is the new head of finance?", "Mr Okafor takes over the accounts department in June."),
    ("What was decided about the logo?", "Everyone agreed to keep the old emblem for now."),
    ("How long is the bridge?", "From one bank to the other it measures 412 metres."),
    ("What is the password policy?", "Passwords need twelve characters and change once a year."),
    ("Why did the engine stop?", "The motor failed since water had got into the fuel."),
    ("What does the soup contain?", "For the broth you need leeks, potatoes and cream."),
    ("Which country won the match?", "Portugal beat its rival by two goals to one."),
    ("What is the speed limit?", "No faster than thirty kilometres an hour is allowed here."),
    ("How can I cancel the contract?", "Either party may end the agreement with a month's notice."),
    ("What were the test results?", "Of the ninety samples that were tested, seven failed."),
    ("What did the captain see?", "Through his glass the skipper made out a burning ship."),
    ("Who pays for the travel?", "Fares and hotels are refunded by the employer."),
    ("What is the medicine for?", "These tablets lower the blood pressure."),
    ("When was the school founded?", "Lessons were first given in this building in 1874."),
    ("What should new staff read first?", "Beginners start with the safety handbook."),
    ("How did prices develop?", "Costs of living rose by a tenth within two years."),
    ("Why are bees important?", "Without pollinating insects most fruit would not grow."),
    ("What is planned for Friday?", "At the end of the week we rehearse the evacuation."),
)
"""A question, and a sentence that answers it, mostly in other words."""

WORDS: tuple[tuple[str, str], ...] = (
    ("money", "budget"),
    ("car", "vehicle"),
    ("doctor", "physician"),
    ("begin", "start"),
    ("buy", "purchase"),
    ("child", "kid"),
    ("illness", "disease"),
    ("road", "street"),
    ("error", "mistake"),
    ("job", "work"),
    ("answer", "reply"),
    ("house", "home"),
    ("boat", "ship"),
    ("meal", "dinner"),
    ("quick", "fast"),
    ("end", "finish"),
    ("picture", "photo"),
    ("rain", "weather"),
    ("teacher", "school"),
    ("price", "cost"),
    ("law", "legal"),
    ("meeting", "conference"),
    ("forest", "trees"),
    ("soldier", "army"),
)
"""Two words of like meaning."""
