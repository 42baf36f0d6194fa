import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ProgramName } from './stack-file.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
/**
 * Where Node keeps the modules that it has compiled, types stripped: the next process starts sooner, and needs some 25
 * MiB less, because it does not load the code that strips types.
 */
export const compileCache = join(root, 'node_modules/.cache/node-compile')
const telemetry = join(root, 'packages/process/src/telemetry/register.ts')

export interface ServiceCommand {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
}

const settings =
  /^(CHECKPOINT|CLAIM|CONNECTIONS|CONSOLE|CORRECT|DATABASE|DELIVERIES|DEVELOPMENT|DRAIN|EVENTS|FAILED_AUTHENTICATIONS|GAMES?|HEADS|HEALTH|HOST|INBOX|INTENT|KEEP|KYC|LEAVE|LOG|MASTER_KEYS|NATS|OTEL|PAY|PLAYER|PORT|PUBLIC|RECONCILE|REPLIES|SANDBOX|SCHEMA|SET_ASIDE|TEAM|TLS|TRUSTED|UNRESOLVED|WEBHOOK)(_|$)/
/** Of all users together, for the servers: a service has one password of each. */
const passwordsOfOthers = /^(DATABASE|NATS)_PASSWORD_/

/**
 * Whether a variable may enter a container: a service's settings may, and nothing else that happens to be in the
 * environment, such as the administrator's POSTGRES_URL or a token of the person who runs this.
 */
export const isSetting = (name: string): boolean => settings.test(name) && !passwordsOfOthers.test(name)

/**
 * Keeps the young generation of the heap at a few MiB. With Node's own limit a busy service uses some 60 MiB more for
 * objects that live as long as a request, and is not faster. The games need less. The images set the same options.
 */
const heapOption = (program: ProgramName) => `--max-semi-space-size=${program === 'games' ? 1 : 4}`

/**
 * How a program is started: from these sources, or from its image where SERVICE_IMAGES says what images are called, such
 * as `backoffice/{service}:local`.
 */
export function serviceCommand(program: ProgramName, env: NodeJS.ProcessEnv): ServiceCommand {
  const images = env.SERVICE_IMAGES
  if (images !== undefined && images !== '') return { cwd: root, ...inContainer(program, images, env) }
  const args = [heapOption(program), '--import', telemetry, join(root, `services/${program}/src/main.ts`)]
  return { cwd: root, command: process.execPath, args }
}

/** On this machine's network, where the other parts are. Signals and the exit status pass through `docker run`. */
function inContainer(program: ProgramName, images: string, env: NodeJS.ProcessEnv) {
  const names = Object.keys(env).filter(isSetting)
  // As the manifests confine it.
  const confinement = ['--read-only', '--cap-drop=ALL', '--security-opt=no-new-privileges']
  const variables = names.flatMap((name) => ['--env', name])
  const image = images.replace('{service}', program)
  return { command: 'docker', args: ['run', '--rm', '--network=host', ...confinement, ...variables, image] }
}
