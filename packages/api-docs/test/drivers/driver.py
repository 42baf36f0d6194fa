import json, sys
sys.path.insert(0, sys.argv[2])
from sign_request import sign_request
from verify_webhook import verify_webhook
vectors = json.load(open(sys.argv[1], encoding="utf-8"))
for v in vectors["requests"]:
    assert sign_request(v["secret"], v["method"], v["path"], v["timestamp"], v["body"].encode()) == v["signature"], v["name"]
for v in vectors["webhooks"]:
    clock = (v["toleranceSeconds"], v["receivedAt"])
    assert verify_webhook(v["secret"], v["timestamp"], v["body"].encode(), v["signature"], *clock) == v["accepted"], v["name"]
    assert not verify_webhook(v["secret"], v["timestamp"], v["body"].encode() + b" ", v["signature"], *clock), v["name"]
print("verified", len(vectors["requests"]) + len(vectors["webhooks"]))
