<?php
// PHP 7.4 or newer; no packages needed.
//   WEBHOOK_SECRET=… php -S 127.0.0.1:3000 receive-webhook.php
// Your web server runs it as it is, too.
const TOLERANCE_SECONDS = 300;
const BODY_BYTES_MAX = 1048576;

function is_genuine(string $secret, string $timestamp, string $rawBody, string $signature): bool
{
    if (!preg_match('/^[0-9]{1,12}\z/', $timestamp) || abs(time() - (int) $timestamp) > TOLERANCE_SECONDS) {
        return false;
    }
    return hash_equals(hash_hmac('sha256', $timestamp . '.' . $rawBody, $secret), $signature);
}

/** Whether this id was not there before. In your server this is a table with a unique column. */
function remember(string $id): bool
{
    $folder = sys_get_temp_dir() . '/seen-webhooks';
    if (!is_dir($folder)) {
        @mkdir($folder, 0700);
    }
    // Of two requests at the same time only one can make the file.
    $file = @fopen($folder . '/' . hash('sha256', $id), 'x');
    return $file !== false && fclose($file);
}

function receive(string $secret): int
{
    // The bytes as received: a parsed and re-serialised body has another signature.
    $rawBody = file_get_contents('php://input', false, null, 0, BODY_BYTES_MAX + 1);
    if (strlen($rawBody) > BODY_BYTES_MAX) {
        return 413;
    }
    $timestamp = $_SERVER['HTTP_X_WEBHOOK_TIMESTAMP'] ?? '';
    if (!is_genuine($secret, $timestamp, $rawBody, $_SERVER['HTTP_X_WEBHOOK_SIGNATURE'] ?? '')) {
        error_log('refused: wrong signature, or a timestamp more than 5 minutes off');
        return 401;
    }
    $event = json_decode($rawBody, true);
    // Delivery is at least once. The id in the body is signed, the one in the header is not.
    $isNew = remember($event['id']);
    error_log($isNew ? "received {$event['type']} {$event['id']}" : "ignored {$event['id']}: received before");
    // Hand work that takes time to a queue: the reply must not wait for it.
    return 200;
}

$secret = getenv('WEBHOOK_SECRET');
if (!$secret || PHP_SAPI === 'cli') {
    error_log('usage: WEBHOOK_SECRET=... php -S 127.0.0.1:3000 receive-webhook.php');
    http_response_code(500);
    exit(2);
}
http_response_code(receive($secret));
