"""The JSON Schema of the native form comes out, made of the same tables that the reader reads by."""

from __future__ import annotations

from typing import Any

from sweeptool.spec.settings import NATIVE

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> dict[str, Any]:
    """Return the schema, for editors to complete and check a spec by; ``load`` knows more than it can say."""
    schema = NATIVE.kind().schema
    return {"$schema": DIALECT, "title": "A sweep in sweeptool's native form", **schema}
