"""Words of interfaces, of which a text on a screen that shows a seed phrase may be made."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["INTERFACE_WORDS"]

INTERFACE_WORDS: Final = frozenset(
    re.findall(
        r"\w+",
        """
    a about accept account accounts add address again agree all and any anyone back before by can cancel
    check choose clear clipboard close complete confirm connect contact continue copied copy create
    dialog do done down download edit enter error export family for forget form from get give go got help
    hidden hide hold how i if import in incorrect information into is it keep key keys later learn let
    lock log make manage menu missing more my name network never new next no not of ok okay on one only
    open or order our out password paste phrase place please previous private proceed qr quiz ready
    recover recovery remind remove restore reveal review save secret secure security seed select set
    settings setup share show sign skip sr srp start step store submit support tap terms that the them
    this to try type understand unlock up use using view wallet warning welcome what why will with word
    words write wrong yes you your
    """,
    )
)
