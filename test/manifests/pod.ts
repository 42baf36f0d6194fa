import { fileURLToPath } from 'node:url'
import { streamBytesMin } from '@backoffice/contracts'
import { freePort } from '@backoffice/dev-stack'
import { type CertificateFiles, type StartedProcess, startProcess, type Teardown } from '@backoffice/test-kit'

const root = fileURLToPath(new URL('../../', import.meta.url))
const register = './packages/process/src/telemetry/register.ts'

/** Where on this machine is what the cluster has under its own names. */
export interface Surroundings {
  readonly postgresPort: number
  readonly natsUrl: string
  /** Of the one authority and of every server. */
  readonly certificate: CertificateFiles
  /** What the pod shows to NATS. */
  readonly client?: CertificateFiles | undefined
}

const portNames = new Set(['PORT', 'HEALTH_PORT', 'GAMES_PORT', 'CONSOLE_PORT', 'OTEL_EXPORTER_PROMETHEUS_PORT'])

/** The environment of a pod, with names, files and ports of this machine and otherwise as it is. */
export async function environmentHere(
  environment: Readonly<Record<string, string>>,
  { postgresPort, natsUrl, certificate, client = certificate }: Surroundings,
): Promise<Record<string, string>> {
  const here: Record<string, string> = {}
  for (const [name, value] of Object.entries(environment)) {
    if (portNames.has(name)) here[name] = String(await freePort())
    else if (name === 'NATS_URL') here[name] = natsUrl
    // Here each server has its own port for that.
    else if (name === 'NATS_MONITORING_URL') continue
    // Nor is there a bucket: the reconciler works without.
    else if (name === 'HEADS_BUCKET_ENDPOINT') here[name] = `http://127.0.0.1:${await freePort()}`
    // Three servers share one disk, which may be small.
    else if (name === 'EVENTS_MAX_BYTES') here[name] = String(streamBytesMin)
    else if (name === 'NATS_CERT_FILE') here[name] = client.certFile
    else if (name === 'NATS_KEY_FILE') here[name] = client.keyFile
    else if (value.endsWith('.crt')) here[name] = certificate.certFile
    else if (value.endsWith('.key')) here[name] = certificate.keyFile
    // Nobody collects traces here: services go on without a collector.
    else if (name === 'OTEL_EXPORTER_OTLP_ENDPOINT') here[name] = `https://localhost:${await freePort()}`
    else here[name] = value.replace(/@postgres-r[wo]:5432\//, `@localhost:${postgresPort}/`)
  }
  return here
}

/** Runs a program as its container does: with that environment and nothing else, but for what Node has compiled. */
export function run(t: Teardown, program: string, environment: Readonly<Record<string, string>>): StartedProcess {
  const { NODE_COMPILE_CACHE } = process.env
  const env = { NODE_COMPILE_CACHE, ...environment }
  return startProcess(t, [process.execPath, '--import', register, program], { cwd: root, env })
}
