<?php
// PHP 7.4 or newer; no packages needed.
//   BASE_URL=… OPERATOR_KEY=… OPERATOR_SECRET=… php sign-request.php GET /me
//   … php sign-request.php POST /players '{"externalId":"user-42", …}' my-idempotency-key-1

/** $path is what is really sent: with the /api/v1 prefix and the query string. $body is '' when there is none. */
function sign_request(string $secret, string $method, string $path, string $timestamp, string $body): string
{
    $canonical = implode("\n", [$method, $path, $timestamp, hash('sha256', $body)]);
    return hash_hmac('sha256', $canonical, $secret);
}

function main(string $method, string $route, string $body = '', string $idempotencyKey = ''): void
{
    $url = getenv('BASE_URL') . $route;
    $path = '/' . explode('/', $url, 4)[3];
    $timestamp = (string) time();
    $headers = [
        'X-Operator-Key: ' . getenv('OPERATOR_KEY'),
        'X-Timestamp: ' . $timestamp,
        'X-Signature: ' . sign_request(getenv('OPERATOR_SECRET'), $method, $path, $timestamp, $body),
    ];
    if ($body !== '') {
        $headers[] = 'Content-Type: application/json';
    }
    if ($idempotencyKey !== '') {
        $headers[] = 'Idempotency-Key: ' . $idempotencyKey;
    }
    $options = ['method' => $method, 'header' => $headers, 'content' => $body, 'ignore_errors' => true, 'follow_location' => 0];
    $response = file_get_contents($url, false, stream_context_create(['http' => $options]));
    echo explode(' ', $http_response_header[0])[1], ' ', $response, "\n";
}

if (realpath($argv[0] ?? '') === __FILE__) {
    if ($argc < 3 || !getenv('BASE_URL') || !getenv('OPERATOR_KEY') || !getenv('OPERATOR_SECRET')) {
        fwrite(STDERR, "usage: BASE_URL=... OPERATOR_KEY=... OPERATOR_SECRET=... php sign-request.php METHOD PATH [BODY [IDEMPOTENCY_KEY]]\n");
        exit(2);
    }
    main(...array_slice($argv, 1));
}
