import { serviceNames } from '@backoffice/contracts'
import type { Random } from './random.ts'

export const replicaNames = serviceNames.flatMap((service) => [`${service}-1`, `${service}-2`])

/** What one fault does to one part of the system. `choice` picks one of as many as there are then. */
export type Fault =
  /** SIGKILL, and a new process with the same data. */
  | { readonly kind: 'kill'; readonly part: string }
  /** SIGKILL of one of PostgreSQL's sessions. PostgreSQL then ends all others and recovers. */
  | { readonly kind: 'killSession'; readonly part: 'postgres'; readonly choice: number }
  /** SIGKILL, and a new process with empty disks. */
  | { readonly kind: 'wipe'; readonly part: 'nats' }
  /** SIGKILL, and a new process with disks as they were at an earlier kill: what had not been synced is lost. */
  | { readonly kind: 'loseLatest'; readonly part: 'nats' }
  /** SIGSTOP, and SIGCONT after this time. */
  | { readonly kind: 'freeze'; readonly part: string; readonly forMs: number }
  /** All its connections are cut. */
  | { readonly kind: 'cut'; readonly part: string }
  /** The connections to one of its neighbours carry nothing for this time, and then all that has gathered. */
  | { readonly kind: 'delay'; readonly part: string; readonly choice: number; readonly forMs: number }
  /** Its clock is wrong for this time. */
  | { readonly kind: 'clock'; readonly part: string; readonly byMs: number; readonly forMs: number }

export type PlannedFault = Fault & { readonly atMs: number }

export interface Extent {
  readonly durationMs: number
  readonly kills: number
  /** The longest that a process is frozen, or its connections are silent. */
  readonly silenceMsMax: number
  /** The most by which a clock is wrong, in either direction. */
  readonly clockStepMsMax: number
}

const killable: readonly (Fault | 'session')[] = [
  ...replicaNames.map((part) => ({ kind: 'kill', part }) as const),
  { kind: 'kill', part: 'nats' },
  { kind: 'kill', part: 'nats' },
  { kind: 'kill', part: 'postgres' },
  'session',
  { kind: 'wipe', part: 'nats' },
  { kind: 'loseLatest', part: 'nats' },
]
const silenceMsMin = 1_000
/**
 * An operator's clock is compared with that of the gateway, and webhooks' with the operator's. Elsewhere half of the steps
 * are as small, so that the team's logins are still right where a clock is wrong.
 */
export const signersStepMsMax = 20_000

/**
 * Which faults happen when. It follows from the seed alone. For three kills there are a process that freezes, a part
 * whose connections fail and a clock that steps. Every part has its turn before one has its second.
 */
export function planFaults(
  random: Random,
  { durationMs, kills, silenceMsMax, clockStepMsMax }: Extent,
): readonly PlannedFault[] {
  const others = Math.ceil(kills / 3)
  // The square makes short silences more likely than long ones.
  const silenceMs = () =>
    Math.round(silenceMsMin + (silenceMsMax - silenceMsMin) * (random.integer(0, 1_000) / 1_000) ** 2)
  const clockStepMs = (part: string) => {
    const isNear = /^(gateway|webhooks)-/.test(part) || random.oneIn(2)
    const stepMsMax = isNear ? Math.min(clockStepMsMax, signersStepMsMax) : clockStepMsMax
    return random.integer(1_000, stepMsMax) * (random.oneIn(2) ? 1 : -1)
  }
  const choice = () => random.integer(0, 999)
  const faults: Fault[] = [
    ...random
      .deal(killable, kills)
      .map((kill): Fault => (kill === 'session' ? { kind: 'killSession', part: 'postgres', choice: choice() } : kill)),
    ...random
      .deal([...replicaNames, 'nats', 'postgres'], others)
      .map((part): Fault => ({ kind: 'freeze', part, forMs: silenceMs() })),
    ...random
      .deal(replicaNames, others)
      .map(
        (part): Fault =>
          random.oneIn(2) ? { kind: 'cut', part } : { kind: 'delay', part, choice: choice(), forMs: silenceMs() },
      ),
    ...random
      .deal(replicaNames, others)
      .map((part): Fault => ({ kind: 'clock', part, byMs: clockStepMs(part), forMs: silenceMs() })),
  ]
  return random
    .shuffled(faults)
    .map((fault) => ({ ...fault, atMs: random.integer(0, durationMs) }))
    .sort((one, other) => one.atMs - other.atMs)
}

export const isKill = ({ kind }: Fault): boolean =>
  kind === 'kill' || kind === 'killSession' || kind === 'wipe' || kind === 'loseLatest'
