# Python 3.8 or newer; no packages needed.
#   BASE_URL=… OPERATOR_KEY=… OPERATOR_SECRET=… python3 sign_request.py GET /me
#   … python3 sign_request.py POST /players '{"externalId":"user-42", …}' my-idempotency-key-1
import hashlib
import hmac
import os
import sys
import time
import urllib.error
import urllib.request


def sign_request(secret: str, method: str, path: str, timestamp: str, body: bytes) -> str:
    """`path` is what is really sent: with the /api/v1 prefix and the query string. `body` is b"" when there is none."""
    body_sha256 = hashlib.sha256(body).hexdigest()
    canonical = "\n".join([method, path, timestamp, body_sha256])
    return hmac.new(secret.encode(), canonical.encode(), hashlib.sha256).hexdigest()


def main(method, route, body="", idempotency_key=""):
    url = os.environ["BASE_URL"] + route
    path = "/" + url.split("/", 3)[3]
    data = body.encode()
    timestamp = str(int(time.time()))
    headers = {
        "X-Operator-Key": os.environ["OPERATOR_KEY"],
        "X-Timestamp": timestamp,
        "X-Signature": sign_request(os.environ["OPERATOR_SECRET"], method, path, timestamp, data),
    }
    if data:
        headers["Content-Type"] = "application/json"
    if idempotency_key:
        headers["Idempotency-Key"] = idempotency_key
    request = urllib.request.Request(url, data=data or None, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request) as response:
            print(response.status, response.read().decode())
    except urllib.error.HTTPError as error:
        print(error.code, error.read().decode())


if __name__ == "__main__":
    if len(sys.argv) < 3 or not {"BASE_URL", "OPERATOR_KEY", "OPERATOR_SECRET"} <= os.environ.keys():
        print(
            "usage: BASE_URL=... OPERATOR_KEY=... OPERATOR_SECRET=... python3 sign_request.py METHOD PATH [BODY [IDEMPOTENCY_KEY]]",
            file=sys.stderr,
        )
        sys.exit(2)
    main(*sys.argv[1:])
