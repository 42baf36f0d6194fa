# Runs the programs that are named, in one process. Each has the same constants, so nobody is warned of them.
$VERBOSE = nil
ARGV.each do |file|
  puts "--- #{File.basename(file, '.*')}"
  load file
end
