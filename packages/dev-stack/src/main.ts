import { bePatient } from '@backoffice/process'
import { watchStarter } from './guard.ts'
import { Stack } from './stack.ts'
import { greeting, parseStackArguments, Steps } from './terminal.ts'

/** Resolves when somebody wants the stack to end: Ctrl-C, SIGTERM, a closed terminal, or npm being killed. */
function askedToStop(): Promise<void> {
  return new Promise((resolve) => {
    let asked = false
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        // A second Ctrl-C ends this process; the guard then ends the rest, without waiting for requests under way.
        if (asked && signal === 'SIGINT') process.exit(130)
        asked = true
        resolve()
      })
    }
    watchStarter(resolve)
  })
}

// A closed terminal must not keep the stack from stopping in order.
process.stdout.on('error', () => {})

async function main(): Promise<number> {
  bePatient({ ...process.env, DEVELOPMENT: 'true' })
  const steps = new Steps()
  const settings = parseStackArguments(process.argv.slice(2))
  const stack = new Stack(settings, steps)
  const stopRequested = askedToStop()
  try {
    const started = stack.start()
    started.catch(() => {})
    const description = await Promise.race([started, stopRequested])
    if (description !== undefined) {
      steps.say(greeting(description, steps.elapsed, settings.dir))
      await stopRequested
    }
    return 0
  } finally {
    steps.say('\nStopping …')
    await stack.stop()
    steps.say('Stopped.')
  }
}

try {
  process.exit(await main())
} catch (error) {
  process.stderr.write(`\n${(error as Error).message}\n`)
  process.exit(1)
}
