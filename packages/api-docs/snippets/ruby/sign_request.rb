# Ruby 3.0 or newer; no gems needed.
#   BASE_URL=… OPERATOR_KEY=… OPERATOR_SECRET=… ruby sign_request.rb GET /me
#   … ruby sign_request.rb POST /players '{"externalId":"user-42", …}' my-idempotency-key-1
require 'net/http'
require 'openssl'
require 'uri'

# `path` is what is really sent: with the /api/v1 prefix and the query string. `body` is '' when there is none.
def sign_request(secret, method, path, timestamp, body)
  canonical = [method, path, timestamp, OpenSSL::Digest::SHA256.hexdigest(body)].join("\n")
  OpenSSL::HMAC.hexdigest('SHA256', secret, canonical)
end

def main(method, route, body = '', idempotency_key = '')
  url = URI(ENV.fetch('BASE_URL') + route)
  timestamp = Time.now.to_i.to_s
  request = Net::HTTPGenericRequest.new(method, !body.empty?, true, url.request_uri)
  request['X-Operator-Key'] = ENV.fetch('OPERATOR_KEY')
  request['X-Timestamp'] = timestamp
  request['X-Signature'] = sign_request(ENV.fetch('OPERATOR_SECRET'), method, url.request_uri, timestamp, body)
  request['Idempotency-Key'] = idempotency_key unless idempotency_key.empty?
  unless body.empty?
    request['Content-Type'] = 'application/json'
    request.body = body
  end
  response = Net::HTTP.start(url.host, url.port, use_ssl: url.scheme == 'https') { |http| http.request(request) }
  puts "#{response.code} #{response.body}"
end

if $PROGRAM_NAME == __FILE__
  if ARGV.size < 2 || !%w[BASE_URL OPERATOR_KEY OPERATOR_SECRET].all? { |name| ENV.key?(name) }
    warn 'usage: BASE_URL=... OPERATOR_KEY=... OPERATOR_SECRET=... ruby sign_request.rb METHOD PATH [BODY [IDEMPOTENCY_KEY]]'
    exit 2
  end
  main(*ARGV)
end
