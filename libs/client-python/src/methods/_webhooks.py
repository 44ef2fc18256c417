"""Verifies webhooks: the signature covers the time and the raw body."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import time
from typing import Any, Dict, Optional, Union, cast

from ._errors import CredentialError, SignatureError

_HEADER = re.compile(r"t=(\d{1,12})((?:,v1=[0-9a-f]{64})+)")


class Webhooks:
    """``Methods.webhooks``; needs no key and no connection."""

    def verify(
        self, raw_body: Union[bytes, str], header: Optional[str], secret: str, *, tolerance: float = 300
    ) -> Dict[str, Any]:
        """Returns the event of a webhook that the service signed with ``secret`` at most ``tolerance`` seconds ago.

        ``raw_body`` is the body as it came, before any parsing. While a secret is rotated the header has several
        signatures, of which one must fit.
        """
        # As a web framework has parsed it: the bytes that were signed are gone.
        if not isinstance(cast(Any, raw_body), (bytes, bytearray, memoryview, str)):
            raise SignatureError(
                "Give the raw body of the webhook, as bytes or text, before any parsing.", code="invalid_body"
            )
        # Anyone can sign with an empty secret.
        if not secret:
            raise CredentialError("Give the webhook secret of the key or of the endpoint.", code="no_webhook_secret")
        match = _HEADER.fullmatch(header or "")
        if match is None:
            raise SignatureError("The header Service-Signature is missing or malformed.", code="invalid_signature")
        body = raw_body.encode() if isinstance(raw_body, str) else bytes(raw_body)
        signed = match.group(1).encode() + b"." + body
        expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
        # Every signature is compared, so that the time does not depend on which of them fits.
        fits = [hmac.compare_digest(expected, given) for given in match.group(2).split(",v1=")[1:]]
        if not any(fits):
            raise SignatureError("The webhook was not signed with this secret.", code="invalid_signature")
        if abs(time.time() - int(match.group(1))) > tolerance:
            raise SignatureError("The webhook is too old, or the clock is wrong.", code="stale_signature")
        try:
            event: Any = json.loads(body)
        except ValueError:
            event = None
        if not isinstance(event, dict):
            raise SignatureError("The body of the webhook is not an object.", code="invalid_body")
        return cast(Dict[str, Any], event)
