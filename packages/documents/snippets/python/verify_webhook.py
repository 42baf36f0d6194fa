# Python 3.8 or newer; no packages needed.
#   WEBHOOK_SECRET=… python3 verify_webhook.py "$X_WEBHOOK_TIMESTAMP" "$X_WEBHOOK_SIGNATURE" < raw-body
import hashlib
import hmac
import os
import sys


def verify_webhook(secret: str, timestamp: str, raw_body: bytes, signature: str) -> bool:
    """`raw_body` is the bytes as received, before any JSON parser. Deduplicate on X-Webhook-Id."""
    expected = hmac.new(secret.encode(), timestamp.encode() + b"." + raw_body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.encode())


if __name__ == "__main__":
    valid = verify_webhook(os.environ["WEBHOOK_SECRET"], sys.argv[1], sys.stdin.buffer.read(), sys.argv[2])
    print("valid" if valid else "INVALID")
    sys.exit(0 if valid else 1)
