import { readdirSync, readFileSync } from 'node:fs'
import { residentServices } from '@backoffice/contracts'
import type { Sample } from '../case.ts'

/** The present process numbers of the servers, by name. */
export type Processes = Readonly<Record<string, number>>

/** The kernel counts processor time in hundredths of a second, on every Linux that Node runs on. */
const tickMs = 10

interface Known {
  readonly parent: number
  /** Its own time, and that of its children that have ended. */
  readonly cpuMs: number
}

/** All processes of this machine at one moment, by number. */
export class ProcessTable {
  readonly #known = new Map<number, Known>()
  readonly #children = new Map<number, number[]>()

  constructor() {
    for (const name of readdirSync('/proc')) if (/^\d+$/.test(name)) this.#read(Number(name))
  }

  /** Processor time of a process and its descendants so far. It never falls: a process that ends leaves it to its parent. */
  cpuMs(pid: number): number {
    return this.family(pid).reduce((sum, member) => sum + (this.#known.get(member)?.cpuMs ?? 0), 0)
  }

  /** A process and its descendants. */
  family(pid: number): readonly number[] {
    return [pid, ...(this.#children.get(pid) ?? []).flatMap((child) => this.family(child))]
  }

  #read(pid: number): void {
    const line = textOf(`/proc/${pid}/stat`)
    // The name, in parentheses, may hold anything; after it come the state, the parent and the rest.
    const [, parent, ...rest] = line.slice(line.lastIndexOf(')') + 2).split(' ')
    if (parent === undefined) return
    const ticks = rest.slice(9, 13).reduce((sum, value) => sum + Number(value), 0)
    this.#known.set(pid, { parent: Number(parent), cpuMs: ticks * tickMs })
    this.#children.set(Number(parent), [...(this.#children.get(Number(parent)) ?? []), pid])
  }
}

/** Processor time that the whole machine has used so far. */
export function machineCpuMs(): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = textOf('/proc/stat')
    .split('\n', 1)
    .flatMap((line) => line.split(/\s+/).slice(1).map(Number))
  return (user + nice + system + irq + softirq + steal) * tickMs
}

const pssOf = (pid: number) => Number(/^Pss:\s+(\d+) kB/m.exec(textOf(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) / 1024

/** A process may end after it was listed and before it is read. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/**
 * Memory of the services that always run, together and each. Pages that processes share, such as those of Node, are
 * divided among them: only so may the figures be added up.
 */
export function memoryNow(processes: Processes): Sample {
  const table = new ProcessTable()
  const ofFamily = (pid = 0) => table.family(pid).reduce((sum, member) => sum + pssOf(member), 0)
  const each = residentServices.map((name) => [`pssMiB.${name}`, ofFamily(processes[name])] as const)
  const pssMiB = each.reduce((sum, [, value]) => sum + value, 0)
  return { figures: { pssMiB, ...Object.fromEntries(each) }, failures: {} }
}
