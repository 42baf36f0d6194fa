// Whether names resolve and connections open from where this runs, before anything depends on it: with a network policy
// that does not fit the cluster, services would only say that their backends are away. It takes no secret, and sends
// nothing.
import { createLogger, loadConfig } from '@backoffice/process'
import { preflightConfig } from './config.ts'
import { obstacles, reach, targetsIn } from './reach.ts'

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1))

async function main(): Promise<void> {
  const { LOG_LEVEL, PREFLIGHT_WAIT_MS, ...places } = loadConfig(preflightConfig, process.env)
  const log = createLogger('preflight', LOG_LEVEL)
  const targets = Object.values(places).flatMap(targetsIn)
  if (targets.length === 0) throw new Error('there is nothing to reach')
  const outcomes = await Promise.all(targets.map((target) => reach(target, { waitMs: PREFLIGHT_WAIT_MS })))
  for (const { host, port, addresses, obstacle } of outcomes) {
    const target = `${host}:${port}`
    if (obstacle === null) log.info({ target, addresses }, 'reached')
    else log.error({ target, addresses, obstacle }, `not reached: ${obstacles[obstacle]}`)
  }
  const failed = outcomes.filter(({ obstacle }) => obstacle !== null)
  if (failed.length > 0) throw new Error(`not reached: ${failed.map(({ host, port }) => `${host}:${port}`).join(', ')}`)
  log.info('everything is within reach')
}

try {
  await main()
} catch (err) {
  createLogger('preflight', 'info').fatal({ err }, 'something is out of reach')
  process.exitCode = 1
}
