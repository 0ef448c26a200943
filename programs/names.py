"""One person, one key: "Mom", "my mother" and "User's mom" are the same.

A key is folded text: no case, no possessive, no leading "my" or "the user's"; kinship words have
one spelling each; academic titles go, "Mr" and "Mrs" stay, because they can tell two people apart.
What no rule can know ("Robert" is "Bob", "my girlfriend" is Ann) comes in as aliases.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

USER = "user"  # the key of the person whose memory it is

_KIN = {
    "mother": "mom mum mama mamma mommy mummy momma mam ma mother",
    "father": "dad daddy papa pa pop father",
    "grandmother": "grandma granny gran nana nan grandmother",
    "grandfather": "grandpa granddad grandad gramps grandfather",
    "sister": "sis sister",
    "brother": "bro brother",
    "aunt": "auntie aunty aunt",
    "partner": "partner",
    "wife": "wifey wife",
    "husband": "hubby husband",
    "girlfriend": "girlfriend gf",
    "boyfriend": "boyfriend bf",
    "parents": "parents folks",
}
KINSHIP = MappingProxyType({word: kin for kin, words in _KIN.items() for word in words.split()})
_USER_WORDS = frozenset({"user", "i", "me", "myself", "self", "the user"})
_TITLE = re.compile(r"^(?:dr|doctor|prof|professor)\.? +(?=\S)")
_GENDERED = (
    (re.compile(r"^(?:mr|mister)\.? +"), "mr "),
    (re.compile(r"^(?:mrs|ms|miss)\.? +"), "ms "),
)
_OWNER = re.compile(r"^(?:(?:the )?user'?s?|my|our|the) +(?=\S)")


@dataclass(frozen=True)
class Names:
    """Who is who for one user: their own name, and aliases (any spelling to the name meant)."""

    user: str = ""
    aliases: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "aliases", MappingProxyType(dict(self.aliases)))

    def __deepcopy__(self, memo: dict[int, Any]) -> "Names":
        return self  # frozen

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.user, dict(self.aliases))

    def key(self, name: str) -> str:
        """The key of the person `name` stands for; "" if it names nobody.

        >>> Names().key("User's Mom") == Names().key("my mother")
        True
        """
        plain = self._plain(name)
        # An alias may point to another alias; each is followed once at most.
        for _ in range(len(self._aliases)):
            if plain not in self._aliases or self._aliases[plain] == plain:
                break
            plain = self._aliases[plain]
        return plain

    @cached_property
    def _aliases(self) -> Mapping[str, str]:
        return {self._plain(a): self._plain(name) for a, name in self.aliases.items()}

    def _plain(self, name: str) -> str:
        text = unicodedata.normalize("NFKC", name).casefold().replace("’", "'")
        text = " ".join(text.split()).strip(" \"'`.,;:!?()[]")
        user = " ".join(self.user.casefold().split())
        if text in _USER_WORDS or (user and text in (user, f"{user}'s")):
            return USER
        if user and text.startswith(f"{user}'s "):
            text = text[len(user) + 3 :]
        owned = _OWNER.sub("", text)
        text = re.sub(r"'s?$", "", owned)
        text = _TITLE.sub("", text)
        for pattern, title in _GENDERED:
            text = pattern.sub(title, text)
        return KINSHIP.get(text, USER if text in _USER_WORDS else text)


NO_NAMES = Names()  # nothing known: the rules alone tell who is who
