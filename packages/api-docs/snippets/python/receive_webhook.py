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
EVENTS_FOLDER = os.environ.get("EVENTS_FOLDER", "webhook-events")
TOLERANCE_SECONDS = 300
BODY_BYTES_MAX = 1_048_576
lock = threading.Lock()


def is_genuine(timestamp: str, raw_body: bytes, signature: str) -> bool:
    if not re.fullmatch("[0-9]{1,12}", timestamp) or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    expected = hmac.new(SECRET.encode(), timestamp.encode() + b"." + raw_body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.encode())


def store(event_id: str, raw_body: bytes) -> bool:
    """Keeps the event, once. Here it is a file, in your server a row of a table whose key is the id. Tells whether it is
    new. An exception means that it cannot be kept: then it must not be acknowledged."""
    if not re.fullmatch(r"\w+", event_id):
        raise ValueError("an event without an id")
    file = os.path.join(EVENTS_FOLDER, event_id)
    with lock:
        if os.path.exists(file + ".waiting") or os.path.exists(file + ".done"):
            return False
        # Under another name until it is whole: the worker must not read half an event.
        with open(file + ".new", "wb") as new:
            new.write(raw_body)
        os.rename(file + ".new", file + ".waiting")
        return True


def work():
    """Does the work for what is stored, after the reply, and after a restart for what was left."""
    for name in os.listdir(EVENTS_FOLDER):
        if not name.endswith(".waiting"):
            continue
        file = os.path.join(EVENTS_FOLDER, name)
        with open(file, "rb") as waiting:
            event = json.load(waiting)
        # Your work stands here. It comes twice when the program ends before the rename.
        print(f"worked on {event['type']} {event['id']}", flush=True)
        os.rename(file, file[: -len("waiting")] + "done")


def work_for_ever():
    while True:
        try:
            work()
        except OSError as error:
            print(error, file=sys.stderr)
        time.sleep(1)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        try:
            self.receive()
        except Exception as error:
            print(error, file=sys.stderr, flush=True)
            # It is not kept: the delivery is made again.
            self.answer(500)

    def receive(self):
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
        is_new = store(event["id"], raw_body)
        # It is kept, so it may be acknowledged. The worker does the rest.
        self.answer(200)
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
    os.makedirs(EVENTS_FOLDER, mode=0o700, exist_ok=True)
    threading.Thread(target=work_for_ever, daemon=True).start()
    server = ThreadingHTTPServer(("127.0.0.1", PORT), Receiver)
    print(f"listening on http://127.0.0.1:{PORT}/webhooks", flush=True)
    server.serve_forever()
