import { type ChaosOptions, parseOptions, usage } from './options.ts'
import { runPromotions } from './promotions.ts'
import { Random } from './random.ts'
import { describeProblems, runChaos } from './run.ts'

const ending = new AsyncDisposableStack()
let interrupted = false

// What was started is stopped however the run ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (interrupted) return
    interrupted = true
    void ending.disposeAsync().finally(() => process.exit(130))
  })
}

async function main(options: ChaosOptions): Promise<number> {
  const startedAt = performance.now()
  const say = (line: string) => {
    process.stderr.write(`${((performance.now() - startedAt) / 1_000).toFixed(1).padStart(7)} s  ${line}\n`)
  }
  say(`seed ${options.seed}`)
  if (options.promotions > 0) {
    const found = await runPromotions(options.promotions, new Random(options.seed), { ending, log: say })
    await ending.disposeAsync()
    process.stdout.write(
      `${JSON.stringify({ seed: options.seed, promotions: options.promotions, ...found }, null, 2)}\n`,
    )
    return found.problems.length === 0 ? 0 : 1
  }
  const { problems, figures } = await runChaos(options, ending, say)
  await ending.disposeAsync()
  process.stdout.write(`${JSON.stringify({ seed: options.seed, ...figures, problems: problems.length }, null, 2)}\n`)
  if (problems.length > 0) process.stdout.write(`${describeProblems(problems, options.seed)}\n`)
  return problems.length === 0 ? 0 : 1
}

try {
  const args = process.argv.slice(2)
  if (args.includes('--help')) process.stdout.write(`${usage}\n`)
  else process.exitCode = await main(parseOptions(args))
} catch (error) {
  if (!interrupted) {
    await ending.disposeAsync().catch(() => {})
    process.stderr.write(`\n${(error as Error).stack}\n`)
    process.exitCode = 1
  }
}
