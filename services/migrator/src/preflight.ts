import { networkInterfaces } from 'node:os'
import { createLogger, loadConfig, trustedProxies } from '@backoffice/process'
import { type PreflightConfig, preflightConfig } from './config.ts'
import { obstacles, reach, targetsIn } from './reach.ts'

/**
 * Whether names resolve and connections open from where this runs, before anything depends on it: with a network policy
 * that does not fit the cluster, services would only say that their backends are away. It takes no secret, and sends
 * nothing.
 * @param destination of the log, in place of standard output
 * @param own the addresses of this pod
 * @returns the exit status; what is out of reach is in the log
 */
export async function runPreflight(
  environment: NodeJS.ProcessEnv,
  destination?: Parameters<typeof createLogger>[2],
  own: readonly string[] = addressesHere(),
): Promise<0 | 1> {
  try {
    const config = loadConfig(preflightConfig, environment)
    const { LOG_LEVEL, PREFLIGHT_WAIT_MS, TEAM_STRONG_ACR, TEAM_STRONG_AMR } = config
    const log = createLogger('preflight', LOG_LEVEL, destination)
    const targets = placesOf(config).flatMap(targetsIn)
    if (targets.length === 0) throw new Error('there is nothing to reach')
    if (config.TEAM_ISSUER && !TEAM_STRONG_ACR && !TEAM_STRONG_AMR)
      log.warn('money and keys take no second factor: neither TEAM_STRONG_ACR nor TEAM_STRONG_AMR is set')
    // The proxy is a pod too. Were it not believed, all callers would have its address, and no permitted one.
    if (config.TRUSTED_PROXIES && !own.some(trustedProxies(config.TRUSTED_PROXIES)))
      throw new Error(`TRUSTED_PROXIES ${config.TRUSTED_PROXIES} is not the pod network: this pod is ${own.join(', ')}`)
    const outcomes = await Promise.all(targets.map((target) => reach(target, { waitMs: PREFLIGHT_WAIT_MS })))
    for (const { host, port, addresses, obstacle } of outcomes) {
      const target = `${host}:${port}`
      if (obstacle === null) log.info({ target, addresses }, `${target} can be reached`)
      else log.error({ target, addresses, obstacle }, `${target} cannot be reached: ${obstacles[obstacle]}`)
    }
    const failed = outcomes.filter(({ obstacle }) => obstacle !== null)
    if (failed.length > 0)
      throw new Error(`cannot be reached: ${failed.map(({ host, port }) => `${host}:${port}`).join(', ')}`)
    log.info('all that this workload needs can be reached')
    return 0
  } catch (err) {
    createLogger('preflight', 'info', destination).fatal(
      { err },
      'something that this workload needs cannot be reached',
    )
    return 1
  }
}

const addressesHere = () =>
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal }) => !internal)
    .map(({ address }) => address)

/** The addresses among the settings of a workload. */
export function placesOf(config: PreflightConfig): readonly string[] {
  const { HEADS_BUCKET: bucket, HEADS_BUCKET_REGION: region, HEADS_BUCKET_ENDPOINT: endpoint } = config
  const asksIssuer = config.TEAM_KEYS_FILE === undefined || config.CONSOLE_CLIENT_ID !== undefined
  return [
    config.DATABASE_URL,
    config.NATS_URL,
    config.OTEL_EXPORTER_OTLP_ENDPOINT,
    config.GAME_PROVIDER_URL,
    bucket && (endpoint ?? `https://${bucket}.s3.${region}.amazonaws.com`),
    asksIssuer ? config.TEAM_ISSUER : undefined,
    config.PREFLIGHT_TARGETS,
  ].filter((place) => place !== undefined)
}

if (import.meta.main) {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1))
  process.exitCode = await runPreflight(process.env)
}
