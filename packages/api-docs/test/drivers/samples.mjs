import { basename, extname } from 'node:path'
import { pathToFileURL } from 'node:url'

// Runs the programs that are named, in one process.
for (const file of process.argv.slice(2)) {
  console.log(`--- ${basename(file, extname(file))}`)
  await import(pathToFileURL(file).href)
}
