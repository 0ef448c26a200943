"""The language models of a run: one by default, others for single roles, all on one ledger."""

import os
from dataclasses import dataclass

import dspy

from memsteer.eval.config import RunConfig
from memsteer.eval.judge import Judge
from memsteer.optimizers.memsteer_opt import MemSteerOpt
from memsteer.programs.ledger import Ledger
from memsteer.programs.memory import MemoryProgram
from memsteer.programs.offline import offline_lm
from memsteer.programs.supervision import SupervisionBuilder

_OFFLINE = ("extractive", "memsteer/extractive")


def is_offline(name: str) -> bool:
    """Whether the name is the offline engine's."""
    return name in _OFFLINE


def make_lm(name: str, api_base: str = "") -> dspy.LM:
    """The LM of a DSPy/LiteLLM name, or the offline engine for `extractive`.

    `api_base` is the address of an OpenAI-compatible server. Raises `VectorsMissing` where the
    offline engine lacks its word vectors.
    """
    if is_offline(name):
        from memsteer.programs.offline.vectors import word_vector

        word_vector("memory")  # inside a call, DSPy would hide why the engine cannot run
        return offline_lm()
    options = {"api_base": api_base} if api_base else {}
    if api_base and not os.environ.get("OPENAI_API_KEY"):
        options["api_key"] = "none"  # a local server asks for no key, but the client does
    return dspy.LM(name, cache=False, **options)


@dataclass(frozen=True)
class Models:
    """Recorded LMs: `default`, and `roles` for those that have another."""

    default: dspy.LM
    roles: dict[str, dspy.LM]

    @classmethod
    def of(cls, config: RunConfig, ledger: Ledger) -> "Models":
        names = dict.fromkeys([config.lm, *config.role_lms.values()])
        lms = {name: ledger.record(make_lm(name, config.api_base)) for name in names}
        return cls(lms[config.lm], {role: lms[name] for role, name in config.role_lms.items()})

    def equip(self, target: SupervisionBuilder | MemoryProgram | MemSteerOpt) -> None:
        """Set the LM of each role that `target` plays and that has one of its own."""
        for role, lm in self.roles.items():
            module = getattr(target, role, None)
            if module is not None:
                module.set_lm(lm)

    def judge(self) -> Judge:
        judge = Judge()
        if "judge" in self.roles:
            judge.set_lm(self.roles["judge"])
        return judge


def describe_models(config: RunConfig) -> str:
    """Which model answered, in a sentence; the offline engine is called what it is."""
    names = {"every role": config.lm} if not config.role_lms else {"by default": config.lm}
    names |= config.role_lms
    said = "; ".join(
        f"{role}: {'the offline engine' if is_offline(name) else name}"
        for role, name in names.items()
    )
    if any(is_offline(name) for name in names.values()):
        said += ". The offline engine answers by extraction rules, no language model"
    return f"{said[0].upper()}{said[1:]}."
