# Ruby 3.0 or newer; no gems needed. In Rails the raw body is request.raw_post, in Rack request.body.read.
#   WEBHOOK_SECRET=… PORT=3000 ruby receive_webhook.rb
require 'fileutils'
require 'json'
require 'openssl'
require 'socket'

SECRET = ENV['WEBHOOK_SECRET']
PORT = ENV.fetch('PORT', '3000').to_i
EVENTS_FOLDER = ENV.fetch('EVENTS_FOLDER', 'webhook-events')
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

$lock = Mutex.new

# Keeps the event, once. Here it is a file, in your server a row of a table whose key is the id. Tells whether it is new.
# An exception means that it cannot be kept: then it must not be acknowledged.
def store(id, raw_body)
  raise 'an event without an id' unless id.match?(/\A\w+\z/)

  file = File.join(EVENTS_FOLDER, id)
  $lock.synchronize do
    return false if File.exist?("#{file}.waiting") || File.exist?("#{file}.done")

    # Under another name until it is whole: the worker must not read half an event.
    File.binwrite("#{file}.new", raw_body)
    File.rename("#{file}.new", "#{file}.waiting")
    true
  end
end

# Does the work for what is stored, after the reply, and after a restart for what was left.
def work
  Dir.glob("#{EVENTS_FOLDER}/*.waiting").each do |file|
    event = JSON.parse(File.read(file, encoding: 'UTF-8'))
    # Your work stands here. It comes twice when the program ends before the rename.
    puts "worked on #{event['type']} #{event['id']}"
    File.rename(file, file.sub(/waiting\z/, 'done'))
  end
rescue SystemCallError => e
  warn e.message
end

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
  is_new = store(event['id'], raw_body)
  # It is kept, so it may be acknowledged. The worker does the rest.
  answer(socket, '200 OK')
  puts is_new ? "received #{event['type']} #{event['id']}" : "ignored #{event['id']}: received before"
rescue StandardError => e
  warn e.message
  # It is not kept: the delivery is made again.
  answer(socket, '500 Internal Server Error') unless socket.closed?
end

if SECRET.to_s.empty?
  warn 'usage: WEBHOOK_SECRET=... PORT=3000 ruby receive_webhook.rb'
  exit 2
end
$stdout.sync = true
FileUtils.mkdir_p(EVENTS_FOLDER, mode: 0o700)
Thread.start { loop { work; sleep 1 } }
# The small HTTP server of this program is for trying things. A framework's does not change the rest.
server = TCPServer.new('127.0.0.1', PORT)
puts "listening on http://127.0.0.1:#{PORT}/webhooks"
loop { Thread.start(server.accept) { |socket| receive(socket) } }
