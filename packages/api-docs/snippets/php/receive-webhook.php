<?php
// PHP 7.4 or newer; no packages needed.
//   WEBHOOK_SECRET=… php -S 127.0.0.1:3000 receive-webhook.php
// Your web server runs it as it is, too. Beside it, each minute by cron, or in a loop:
//   php receive-webhook.php work
const TOLERANCE_SECONDS = 300;
const BODY_BYTES_MAX = 1048576;
// Outside of what your web server publishes: events have personal data.
define('EVENTS_FOLDER', getenv('EVENTS_FOLDER') ?: dirname(__DIR__) . '/webhook-events');

// A warning of a file function becomes an exception: what cannot be kept must not be acknowledged.
set_error_handler(function (int $level, string $message): bool {
    throw new RuntimeException($message);
});

function is_genuine(string $secret, string $timestamp, string $rawBody, string $signature): bool
{
    if (!preg_match('/^[0-9]{1,12}\z/', $timestamp) || abs(time() - (int) $timestamp) > TOLERANCE_SECONDS) {
        return false;
    }
    return hash_equals(hash_hmac('sha256', $timestamp . '.' . $rawBody, $secret), $signature);
}

/**
 * Keeps the event, once. Here it is a file, in your server a row of a table whose key is the id. Returns whether it is
 * new. An exception means that it cannot be kept.
 */
function store(string $id, string $rawBody): bool
{
    if (!preg_match('/^\w+\z/', $id)) {
        throw new RuntimeException('an event without an id');
    }
    if (!is_dir(EVENTS_FOLDER)) {
        mkdir(EVENTS_FOLDER, 0700, true);
    }
    // Several processes answer requests, and one at a time gets past this line. It ends with the function.
    $lock = fopen(EVENTS_FOLDER . '/lock', 'c');
    flock($lock, LOCK_EX);
    $file = EVENTS_FOLDER . "/$id";
    if (file_exists("$file.waiting") || file_exists("$file.done")) {
        return false;
    }
    // Under another name until it is whole: the worker must not read half an event.
    file_put_contents("$file.new", $rawBody);
    rename("$file.new", "$file.waiting");
    return true;
}

/** Does the work for what is stored, after the replies. */
function work(): void
{
    foreach (glob(EVENTS_FOLDER . '/*.waiting') as $file) {
        $event = json_decode(file_get_contents($file), true);
        // Your work stands here. It comes twice when the program ends before the rename.
        echo "worked on {$event['type']} {$event['id']}\n";
        rename($file, preg_replace('/waiting$/', 'done', $file));
    }
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
    $isNew = store($event['id'] ?? '', $rawBody);
    error_log($isNew ? "received {$event['type']} {$event['id']}" : "ignored {$event['id']}: received before");
    // It is kept, so it may be acknowledged. The worker does the rest.
    return 200;
}

if (PHP_SAPI === 'cli' && ($argv[1] ?? '') === 'work') {
    work();
    exit(0);
}
$secret = getenv('WEBHOOK_SECRET');
if (!$secret || PHP_SAPI === 'cli') {
    error_log('usage: WEBHOOK_SECRET=... php -S 127.0.0.1:3000 receive-webhook.php');
    http_response_code(500);
    exit(2);
}
try {
    http_response_code(receive($secret));
} catch (Throwable $error) {
    error_log($error->getMessage());
    // It is not kept: the delivery is made again.
    http_response_code(500);
}
