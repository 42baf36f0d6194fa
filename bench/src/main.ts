import { bytesText, measureBytes } from './bytes.ts'
import { isSound } from './figures.ts'
import { lastingText, measureLasting } from './lasting.ts'
import { parseOptions, usage } from './options.ts'
import { describeRun, rowsOfLasting, writeFigures, writeReport, writeRows } from './report.ts'
import { groups, run } from './run.ts'

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
  const names = groups.map(({ name }) => name)
  if (args.includes('--help')) {
    process.stdout.write(`${usage(names)}\n`)
    return 0
  }
  const options = parseOptions(args, names)
  const description = describeRun(options)
  const say = (line: string) => void process.stderr.write(`${line}\n`)
  if (options.bytes) {
    const report = await measureBytes(options, ending, say)
    await ending.disposeAsync()
    process.stdout.write(bytesText(report))
    return Object.keys(report.failures).length === 0 ? 0 : 1
  }
  if (options.lasting) {
    const samples = await measureLasting(options, ending, say)
    await ending.disposeAsync()
    process.stdout.write(`${lastingText(samples)}\n`)
    if (samples.some(({ failures }) => Object.keys(failures).length > 0)) return 1
    if (options.write) writeRows(rowsOfLasting(samples), description.commit, description.startedAt)
    return 0
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
