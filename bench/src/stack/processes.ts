import { readdirSync, readFileSync } from 'node:fs'
import type { RunningStack } from './subject.ts'

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

interface Memory {
  /** Resident memory, including memory shared with other processes. */
  readonly rssMiB: number
  /** The same, with shared pages divided among the processes that share them. Only these figures may be added up. */
  readonly pssMiB: number
}

function memoryOf(pids: readonly number[]): Memory {
  const sum = (file: string, field: string) =>
    pids.reduce((total, pid) => {
      const value = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(textOf(`/proc/${pid}/${file}`))?.[1]
      return total + Number(value ?? 0) / 1024
    }, 0)
  return { rssMiB: sum('status', 'VmRSS'), pssMiB: sum('smaps_rollup', 'Pss') }
}

/** A process may end after it was listed and before it is read. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** What the services use together now, in resident memory, and what each does. */
export function memoryNow(stack: RunningStack): Readonly<Record<string, number>> & { readonly rssMiB: number } {
  const table = new ProcessTable()
  const services = Object.entries(stack.servicePids()).map(
    ([name, pid]) => [name, memoryOf(table.family(pid))] as const,
  )
  const sum = (figure: keyof Memory) => services.reduce((total, [, memory]) => total + memory[figure], 0)
  const each = Object.fromEntries(services.map(([name, memory]) => [`rssMiB.${name}`, memory.rssMiB]))
  return { ...each, rssMiB: sum('rssMiB'), pssMiB: sum('pssMiB') }
}

/** The most that they used together at one reading of several. */
export const peakOf = (readings: readonly ReturnType<typeof memoryNow>[]) =>
  readings.reduce((most, one) => (one.rssMiB > most.rssMiB ? one : most))
