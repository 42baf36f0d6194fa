# Python 3.8 or newer; no packages needed. In Flask the raw body is request.get_data(), in Django request.body.
#   WEBHOOK_SECRET=… PORT=3000 python3 receive_webhook.py
import hashlib
import hmac
import json
import os
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ.get("WEBHOOK_SECRET", "")
PORT = int(os.environ.get("PORT", "3000"))
TOLERANCE_SECONDS = 300
BODY_BYTES_MAX = 1_048_576
# In your server this is a table with a unique column, so that a restart forgets nothing.
seen = set()
lock = threading.Lock()


def is_genuine(timestamp: str, raw_body: bytes, signature: str) -> bool:
    if not re.fullmatch("[0-9]{1,12}", timestamp) or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    expected = hmac.new(SECRET.encode(), timestamp.encode() + b"." + raw_body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.encode())


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers.get("Content-Length", "0"))
        if length > BODY_BYTES_MAX:
            return self.answer(413)
        # The bytes as received: a parsed and re-serialised body has another signature.
        raw_body = self.rfile.read(length)
        if not is_genuine(
            self.headers.get("X-Webhook-Timestamp", ""), raw_body, self.headers.get("X-Webhook-Signature", "")
        ):
            print("refused: wrong signature, or a timestamp more than 5 minutes off", flush=True)
            return self.answer(401)
        event = json.loads(raw_body)
        # Delivery is at least once. The id in the body is signed, the one in the header is not.
        with lock:
            is_new = event["id"] not in seen
            seen.add(event["id"])
        self.answer(200)
        # Answered. Work that takes time begins here.
        print(f"received {event['type']} {event['id']}" if is_new else f"ignored {event['id']}: received before", flush=True)

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


if __name__ == "__main__":
    if not SECRET:
        print("usage: WEBHOOK_SECRET=... PORT=3000 python3 receive_webhook.py", file=sys.stderr)
        sys.exit(2)
    server = ThreadingHTTPServer(("127.0.0.1", PORT), Receiver)
    print(f"listening on http://127.0.0.1:{PORT}/webhooks", flush=True)
    server.serve_forever()
