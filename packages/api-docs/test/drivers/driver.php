<?php
require $argv[2] . '/sign-request.php';
require $argv[2] . '/verify-webhook.php';
$vectors = json_decode(file_get_contents($argv[1]), true);
function check(bool $good, string $name): void { if (!$good) { fwrite(STDERR, $name); exit(1); } }
foreach ($vectors['requests'] as $v) {
    check(sign_request($v['secret'], $v['method'], $v['path'], $v['timestamp'], $v['body']) === $v['signature'], $v['name']);
}
foreach ($vectors['webhooks'] as $v) {
    $clock = [$v['toleranceSeconds'], $v['receivedAt']];
    check(verify_webhook($v['secret'], $v['timestamp'], $v['body'], $v['signature'], ...$clock) === $v['accepted'], $v['name']);
    check(!verify_webhook($v['secret'], $v['timestamp'], $v['body'] . ' ', $v['signature'], ...$clock), $v['name']);
}
echo 'verified ', count($vectors['requests']) + count($vectors['webhooks']), "\n";
