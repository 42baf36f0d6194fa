import { setTimeout as wait } from 'node:timers/promises'
import { serviceNames } from '@backoffice/contracts'
import type { Part } from './backends.ts'
import type { Random } from './random.ts'
import type { ChaosSystem, Replica } from './system.ts'

const replicaNames = serviceNames.flatMap((service) => [`${service}-1`, `${service}-2`])

/** What one fault does to one part of the system. `choice` picks one of as many as there are then. */
type Fault =
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

type PlannedFault = Fault & { readonly atMs: number }

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
const signersStepMsMax = 20_000

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

/** Carries out planned faults, each at its time. Faults of one kind on one part happen one after another. */
export class Faults {
  /** How often each kind was carried out. */
  readonly counts: Partial<Record<Fault['kind'], number>> = {}
  readonly #system: ChaosSystem
  readonly #log: (line: string) => void
  readonly #underWay = new Map<string, Promise<void>>()

  constructor(system: ChaosSystem, log: (line: string) => void) {
    this.#system = system
    this.#log = log
  }

  /** Resolves when the last fault is over and every process is there again. */
  async carryOut(plan: readonly PlannedFault[]): Promise<void> {
    const startedAt = performance.now()
    for (const fault of plan) {
      await wait(Math.max(0, fault.atMs - (performance.now() - startedAt)))
      const aspect = `${aspectOf(fault)} of ${fault.part}`
      const before = this.#underWay.get(aspect) ?? Promise.resolve()
      const task = before.then(() => this.#carryOut(fault))
      // A failure is reported at the end.
      task.catch(() => {})
      this.#underWay.set(aspect, task)
    }
    await Promise.all(this.#underWay.values())
    await Promise.all(this.#system.replicas.map((replica) => replica.untilReady()))
  }

  async #carryOut(fault: Fault): Promise<void> {
    const startedAt = performance.now()
    const { postgres, nats } = this.#system
    switch (fault.kind) {
      case 'kill':
        await this.#part(fault.part).kill()
        break
      case 'killSession':
        postgres.killSession(fault.choice)
        break
      case 'wipe':
        await nats.wipe()
        break
      case 'loseLatest':
        await nats.loseLatest()
        break
      case 'freeze': {
        const part = this.#part(fault.part)
        part.freeze()
        await wait(fault.forMs)
        part.thaw()
        break
      }
      case 'cut':
        for (const link of this.#replica(fault.part).links) link.cut()
        break
      case 'delay': {
        const { links } = this.#replica(fault.part)
        const link = links[fault.choice % links.length]
        link?.hold()
        await wait(fault.forMs)
        link?.release()
        break
      }
      case 'clock': {
        const replica = this.#replica(fault.part)
        replica.stepClock(fault.byMs)
        await wait(fault.forMs)
        replica.stepClock(0)
        break
      }
      default:
        fault satisfies never
    }
    this.counts[fault.kind] = (this.counts[fault.kind] ?? 0) + 1
    const details = 'byMs' in fault ? ` by ${fault.byMs} ms` : ''
    this.#log(`${fault.kind} ${fault.part}${details}: over after ${Math.round(performance.now() - startedAt)} ms`)
  }

  #part(name: string): Part {
    const { postgres, nats } = this.#system
    return [postgres, nats].find((part) => part.name === name) ?? this.#replica(name)
  }

  #replica(name: string): Replica {
    const found = this.#system.replicas.find((replica) => replica.name === name)
    if (found === undefined) throw new Error(`there is no ${name}`)
    return found
  }
}

/** What cannot suffer two faults at once. */
function aspectOf({ kind }: Fault): 'clock' | 'connections' | 'process' {
  if (kind === 'clock') return 'clock'
  return kind === 'cut' || kind === 'delay' ? 'connections' : 'process'
}
