import { setTimeout as wait } from 'node:timers/promises'
import { serviceNames } from '@backoffice/contracts'
import type { Part } from './backends.ts'
import type { Random } from './random.ts'
import type { ChaosSystem, Replica } from './system.ts'

const replicaNames = serviceNames.flatMap((service) => [`${service}-1`, `${service}-2`])

/** What one fault does to one part of the system. */
interface Fault {
  readonly kind: 'kill' | 'freeze' | 'cut' | 'delay' | 'clock'
  readonly part: string
  /** For a person, where the kind does not say all. */
  readonly details?: string
  /** Resolves when it is over. */
  readonly happen: (system: ChaosSystem) => unknown
}

type PlannedFault = Fault & { readonly atMs: number }

export interface Extent {
  readonly durationMs: number
  readonly kills: number
  /** The longest that a process is frozen, or its connections are silent. */
  readonly silenceMsMax: number
  /** The most by which a clock is wrong, in either direction. */
  readonly clockStepMsMax: number
}

function replicaOf({ replicas }: ChaosSystem, name: string): Replica {
  const found = replicas.find((replica) => replica.name === name)
  if (found === undefined) throw new Error(`there is no ${name}`)
  return found
}

const partOf = (system: ChaosSystem, name: string): Part =>
  [system.postgres, system.nats].find((part) => part.name === name) ?? replicaOf(system, name)

async function during(ms: number, begin: () => unknown, end: () => unknown): Promise<void> {
  begin()
  await wait(ms)
  end()
}

const kill = (part: string): Fault => ({ kind: 'kill', part, happen: (system) => partOf(system, part).kill() })

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
  /** One of as many as there are then. */
  const choice = () => random.integer(0, 999)
  const session = choice()
  const killable: readonly Fault[] = [
    ...[...replicaNames, 'nats', 'nats', 'postgres'].map(kill),
    // PostgreSQL then ends all others and recovers.
    { ...kill('postgres'), details: ' in a session', happen: ({ postgres }) => postgres.killSession(session) },
    { ...kill('nats'), details: ' with its disks', happen: ({ nats }) => nats.wipe() },
    { ...kill('nats'), details: ' with what it had not synced', happen: ({ nats }) => nats.loseLatest() },
  ]
  const freeze = (part: string): Fault => {
    const forMs = silenceMs()
    const happen = (system: ChaosSystem) => {
      const frozen = partOf(system, part)
      return during(forMs, frozen.freeze.bind(frozen), frozen.thaw.bind(frozen))
    }
    return { kind: 'freeze', part, happen }
  }
  /** All connections, or one neighbour that hears nothing for a while, and then all that has gathered. */
  const fail = (part: string): Fault => {
    if (random.oneIn(2)) {
      const happen = (system: ChaosSystem) => replicaOf(system, part).links.map((link) => link.cut())
      return { kind: 'cut', part, happen }
    }
    const [which, forMs] = [choice(), silenceMs()]
    const happen = (system: ChaosSystem) => {
      const { links } = replicaOf(system, part)
      const link = links[which % links.length]
      return during(
        forMs,
        () => link?.hold(),
        () => link?.release(),
      )
    }
    return { kind: 'delay', part, happen }
  }
  const step = (part: string): Fault => {
    const isNear = /^(gateway|webhooks)-/.test(part) || random.oneIn(2)
    const stepMsMax = isNear ? Math.min(clockStepMsMax, signersStepMsMax) : clockStepMsMax
    const byMs = random.integer(1_000, stepMsMax) * (random.oneIn(2) ? 1 : -1)
    const forMs = silenceMs()
    const happen = (system: ChaosSystem) => {
      const replica = replicaOf(system, part)
      return during(
        forMs,
        () => replica.stepClock(byMs),
        () => replica.stepClock(0),
      )
    }
    return { kind: 'clock', part, details: ` by ${byMs} ms`, happen }
  }
  const faults = [
    ...random.deal(killable, kills),
    ...random.deal([...replicaNames, 'nats', 'postgres'], others).map(freeze),
    ...random.deal(replicaNames, others).map(fail),
    ...random.deal(replicaNames, others).map(step),
  ]
  return random
    .shuffled(faults)
    .map((fault) => ({ ...fault, atMs: random.integer(0, durationMs) }))
    .sort((one, other) => one.atMs - other.atMs)
}

/** What of a part cannot suffer two faults at once. */
const aspects = {
  kill: 'process',
  freeze: 'process',
  cut: 'connections',
  delay: 'connections',
  clock: 'clock',
} as const

/**
 * Carries out planned faults, each at its time. Faults of one kind on one part happen one after another.
 * @returns when the last fault is over and every process is there again
 */
export async function carryOut(
  plan: readonly PlannedFault[],
  system: ChaosSystem,
  log: (line: string) => void,
): Promise<void> {
  const underWay = new Map<string, Promise<void>>()
  const startedAt = performance.now()
  for (const { kind, part, details = '', happen, atMs } of plan) {
    await wait(Math.max(0, atMs - (performance.now() - startedAt)))
    const aspect = `${aspects[kind]} of ${part}`
    const task = (underWay.get(aspect) ?? Promise.resolve()).then(async () => {
      const begunAt = performance.now()
      await happen(system)
      log(`${kind} ${part}${details}: over after ${Math.round(performance.now() - begunAt)} ms`)
    })
    // A failure is reported at the end.
    task.catch(() => {})
    underWay.set(aspect, task)
  }
  await Promise.all(underWay.values())
  await Promise.all(system.replicas.map((replica) => replica.untilReady()))
}
