# Ruby 3.0 or newer; no gems needed.
#   WEBHOOK_SECRET=… ruby verify_webhook.rb "$X_WEBHOOK_TIMESTAMP" "$X_WEBHOOK_SIGNATURE" < raw-body
require 'openssl'

# `raw_body` is the bytes as received, before any JSON parser. Deduplicate on the id in the verified body.
def verify_webhook(secret, timestamp, raw_body, signature, tolerance_seconds = 300, now_seconds = Time.now.to_i)
  # Whoever recorded a delivery cannot send it again later.
  return false unless timestamp.match?(/\A[0-9]{1,12}\z/)
  return false if (now_seconds - timestamp.to_i).abs > tolerance_seconds

  expected = OpenSSL::HMAC.hexdigest('SHA256', secret, "#{timestamp}.".b + raw_body.b)
  return false unless signature.bytesize == expected.bytesize

  OpenSSL.fixed_length_secure_compare(expected, signature)
end

if $PROGRAM_NAME == __FILE__
  if ARGV.size < 2 || !ENV.key?('WEBHOOK_SECRET')
    warn 'usage: WEBHOOK_SECRET=... ruby verify_webhook.rb TIMESTAMP SIGNATURE < raw-body'
    exit 2
  end
  valid = verify_webhook(ENV.fetch('WEBHOOK_SECRET'), ARGV[0], $stdin.binmode.read, ARGV[1])
  puts valid ? 'valid' : 'INVALID'
  exit valid ? 0 : 1
end
