import { bytesText, measureBytes } from './bytes.ts'
import { isSound } from './figures.ts'
import { parseOptions, usage } from './options.ts'
import { describeRun, writeFigures, writeReport } from './report.ts'
import { groupNames, run } from './run.ts'

const ending = new AsyncDisposableStack()
let interrupted = false

// What was started is stopped however the run ends: servers left running would disturb the next run.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (interrupted) return
    interrupted = true
    void ending.disposeAsync().finally(() => process.exit(130))
  })
}

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    process.stdout.write(`${usage(groupNames)}\n`)
    return 0
  }
  const options = parseOptions(args, groupNames)
  const description = await describeRun(options)
  const say = (line: string) => void process.stderr.write(`${line}\n`)
  if (options.bytes) {
    const report = await measureBytes(options, ending, say)
    await ending.disposeAsync()
    process.stdout.write(bytesText(report))
    return Object.keys(report.failures).length === 0 ? 0 : 1
  }
  const results = await run(options, ending, say)
  await ending.disposeAsync()
  process.stdout.write(writeReport(results, options, description))
  if (options.write) writeFigures(results, description)
  return isSound(results) ? 0 : 1
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (!interrupted) {
    await ending.disposeAsync().catch(() => {})
    process.stderr.write(`\n${(error as Error).message}\n`)
    process.exitCode = 1
  }
}
