# Runs the programs that are named, in one process.
import os, runpy, sys

for file in sys.argv[1:]:
    print("---", os.path.splitext(os.path.basename(file))[0])
    runpy.run_path(file)
