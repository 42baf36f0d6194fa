<?php
// PHP 7.4 or newer; no packages needed.
//   WEBHOOK_SECRET=… php verify-webhook.php "$X_WEBHOOK_TIMESTAMP" "$X_WEBHOOK_SIGNATURE" < raw-body

/** $rawBody is the bytes as received (php://input), before any JSON parser. Deduplicate on the id in the verified body. */
function verify_webhook(
    string $secret,
    string $timestamp,
    string $rawBody,
    string $signature,
    int $toleranceSeconds = 300,
    ?int $nowSeconds = null
): bool {
    // Whoever recorded a delivery cannot send it again later.
    $now = $nowSeconds ?? time();
    if (!preg_match('/^[0-9]{1,12}\z/', $timestamp) || abs($now - (int) $timestamp) > $toleranceSeconds) {
        return false;
    }
    return hash_equals(hash_hmac('sha256', $timestamp . '.' . $rawBody, $secret), $signature);
}

if (realpath($argv[0] ?? '') === __FILE__) {
    if ($argc < 3 || !getenv('WEBHOOK_SECRET')) {
        fwrite(STDERR, "usage: WEBHOOK_SECRET=... php verify-webhook.php TIMESTAMP SIGNATURE < raw-body\n");
        exit(2);
    }
    $valid = verify_webhook(getenv('WEBHOOK_SECRET'), $argv[1], file_get_contents('php://stdin'), $argv[2]);
    echo $valid ? 'valid' : 'INVALID', "\n";
    exit($valid ? 0 : 1);
}
