"""What every test starts from: no network, DSPy's own defaults, a cache folder of its own."""

import copy
import os
import tempfile
from collections.abc import Iterator

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "true"
_CACHE = tempfile.TemporaryDirectory(prefix="memsteer-tests-")
os.environ["MEMSTEER_CACHE"] = _CACHE.name
os.environ.setdefault("DSPY_CACHEDIR", os.path.join(_CACHE.name, "dspy"))

import dspy  # noqa: E402
import pytest  # noqa: E402
from dspy.dsp.utils.settings import DEFAULT_CONFIG  # noqa: E402
from hypothesis import settings  # noqa: E402

settings.register_profile("fast", max_examples=60, deadline=None)  # a busy machine is no failure
settings.load_profile("fast")


@pytest.fixture(autouse=True)
def dspy_defaults() -> Iterator[None]:
    """DSPy's settings as they are at import, before and after."""
    dspy.configure(**copy.deepcopy(DEFAULT_CONFIG))
    yield
    dspy.configure(**copy.deepcopy(DEFAULT_CONFIG))
