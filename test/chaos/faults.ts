import { setTimeout as wait } from 'node:timers/promises'
import type { Part } from './backends.ts'
import type { Fault, PlannedFault } from './plan.ts'
import type { Replica } from './replica.ts'
import type { ChaosSystem } from './system.ts'

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
