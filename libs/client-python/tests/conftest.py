"""The stack that the tests call: its address, key and methods come from the environment."""

from __future__ import annotations

import os
from typing import Iterator

import pytest

from methods import Methods

STACK = ("METHODS_TEST_URL", "METHODS_TEST_KEY")


@pytest.fixture
def address() -> str:
    if not all(os.environ.get(name) for name in STACK):
        pytest.skip("needs a running stack: npm test -- python-client")
    return os.environ["METHODS_TEST_URL"]


@pytest.fixture
def key() -> str:
    return os.environ["METHODS_TEST_KEY"]


@pytest.fixture
def client(address: str, key: str) -> Iterator[Methods]:
    with Methods(key, base_url=address) as made:
        yield made


def method(name: str) -> str:
    return os.environ[f"METHODS_TEST_METHOD_{name.upper().replace('-', '_')}"]
