# Ruby 3.0 or newer; no gems needed. In Rails the raw body is request.raw_post, in Rack request.body.read.
#   WEBHOOK_SECRET=… PORT=3000 ruby receive_webhook.rb
require 'json'
require 'openssl'
require 'socket'

SECRET = ENV['WEBHOOK_SECRET']
PORT = ENV.fetch('PORT', '3000').to_i
TOLERANCE_SECONDS = 300
BODY_BYTES_MAX = 1_048_576
LINE_BYTES_MAX = 8_192

def genuine?(timestamp, raw_body, signature)
  return false unless timestamp.match?(/\A[0-9]{1,12}\z/)
  return false if (Time.now.to_i - timestamp.to_i).abs > TOLERANCE_SECONDS

  expected = OpenSSL::HMAC.hexdigest('SHA256', SECRET, "#{timestamp}.".b + raw_body)
  signature.bytesize == expected.bytesize && OpenSSL.fixed_length_secure_compare(expected, signature)
end

def read_headers(socket)
  socket.gets(LINE_BYTES_MAX)
  headers = Hash.new('')
  while (line = socket.gets(LINE_BYTES_MAX)) && line != "\r\n"
    name, value = line.split(':', 2)
    headers[name.downcase] = value.to_s.strip
  end
  headers
end

def answer(socket, status)
  socket.write("HTTP/1.1 #{status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
  socket.close
end

# In your server this is a table with a unique column, so that a restart forgets nothing.
$seen = {}
$lock = Mutex.new

def receive(socket)
  headers = read_headers(socket)
  length = headers['content-length'].to_i
  return answer(socket, '413 Content Too Large') if length > BODY_BYTES_MAX

  # The bytes as received: a parsed and re-serialised body has another signature.
  raw_body = socket.read(length).to_s
  unless genuine?(headers['x-webhook-timestamp'], raw_body, headers['x-webhook-signature'])
    puts 'refused: wrong signature, or a timestamp more than 5 minutes off'
    return answer(socket, '401 Unauthorized')
  end
  event = JSON.parse(raw_body)
  # Delivery is at least once. The id in the body is signed, the one in the header is not.
  is_new = $lock.synchronize { !$seen.key?(event['id']) && $seen[event['id']] = true }
  answer(socket, '200 OK')
  # Answered. Work that takes time begins here.
  puts is_new ? "received #{event['type']} #{event['id']}" : "ignored #{event['id']}: received before"
end

if SECRET.to_s.empty?
  warn 'usage: WEBHOOK_SECRET=... PORT=3000 ruby receive_webhook.rb'
  exit 2
end
$stdout.sync = true
# The small HTTP server of this program is for trying things. A framework's does not change the rest.
server = TCPServer.new('127.0.0.1', PORT)
puts "listening on http://127.0.0.1:#{PORT}/webhooks"
loop { Thread.start(server.accept) { |socket| receive(socket) } }
