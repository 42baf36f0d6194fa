require 'json'
require "#{ARGV[1]}/sign_request"
require "#{ARGV[1]}/verify_webhook"
vectors = JSON.parse(File.read(ARGV[0], encoding: 'UTF-8'))
vectors['requests'].each do |v|
  raise v['name'] unless sign_request(v['secret'], v['method'], v['path'], v['timestamp'], v['body']) == v['signature']
end
vectors['webhooks'].each do |v|
  clock = [v['toleranceSeconds'], v['receivedAt']]
  raise v['name'] unless verify_webhook(v['secret'], v['timestamp'], v['body'], v['signature'], *clock) == v['accepted']
  raise v['name'] if verify_webhook(v['secret'], v['timestamp'], "#{v['body']} ", v['signature'], *clock)
end
puts "verified #{vectors['requests'].size + vectors['webhooks'].size}"
