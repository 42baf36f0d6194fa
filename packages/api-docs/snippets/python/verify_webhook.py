# Python 3.8 or newer; no packages needed.
#   WEBHOOK_SECRET=… python3 verify_webhook.py "$X_WEBHOOK_TIMESTAMP" "$X_WEBHOOK_SIGNATURE" < raw-body
import hashlib
import hmac
import os
import re
import sys
import time


def verify_webhook(
    secret: str, timestamp: str, raw_body: bytes, signature: str, tolerance_seconds: int = 300, now_seconds: float = None
) -> bool:
    """`raw_body` is the bytes as received, before any JSON parser. Deduplicate on the id in the verified body."""
    now = time.time() if now_seconds is None else now_seconds
    # Whoever recorded a delivery cannot send it again later.
    if not re.fullmatch("[0-9]{1,12}", timestamp) or abs(now - int(timestamp)) > tolerance_seconds:
        return False
    expected = hmac.new(secret.encode(), timestamp.encode() + b"." + raw_body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.encode())


if __name__ == "__main__":
    if len(sys.argv) < 3 or "WEBHOOK_SECRET" not in os.environ:
        print("usage: WEBHOOK_SECRET=... python3 verify_webhook.py TIMESTAMP SIGNATURE < raw-body", file=sys.stderr)
        sys.exit(2)
    valid = verify_webhook(os.environ["WEBHOOK_SECRET"], sys.argv[1], sys.stdin.buffer.read(), sys.argv[2])
    print("valid" if valid else "INVALID")
    sys.exit(0 if valid else 1)
