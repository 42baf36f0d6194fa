import { bePatient } from '@backoffice/process/limits'
import { watchStarter } from './child.ts'
import { assertPortIsOurs, keepLoopbackDirect } from './ports.ts'
import { assertNoStackIn } from './stack-file.ts'
import { greeting, parseStackArguments, Steps, usage } from './terminal.ts'

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
  const args = process.argv.slice(2)
  const steps = new Steps()
  if (args.includes('--help') || args.includes('-h')) {
    steps.say(usage)
    return 0
  }
  const settings = parseStackArguments(args)
  assertNoStackIn(settings.dir)
  if (settings.port !== 0) await assertPortIsOurs(settings.port)
  keepLoopbackDirect()
  bePatient({ ...process.env, DEVELOPMENT: 'true' })
  // Loaded now: it takes a second, or ten on a busy machine, and what is said above needs none of it.
  const [{ Stack }, { teamPeople }] = await Promise.all([import('./stack.ts'), import('./identity/people.ts')])
  const stack = new Stack(settings, steps)
  const stopRequested = askedToStop()
  try {
    const started = stack.start()
    started.catch(() => {})
    const description = await Promise.race([started, stopRequested])
    if (description !== undefined) {
      steps.say(greeting(description, teamPeople, steps.elapsed, settings.dir))
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
