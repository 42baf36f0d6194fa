import { readdirSync, readFileSync } from 'node:fs'
import { residentServices } from '@backoffice/contracts'

/** The present process numbers of the servers, by name. */
export type Processes = Readonly<Record<string, number>>

/** The kernel counts processor time in hundredths of a second, on every Linux that Node runs on. */
const tickMs = 10

/** All processes of this machine at one moment, by number. */
export class ProcessTable {
  readonly #cpuMs = new Map<number, number>()
  readonly #children = new Map<number, number[]>()

  constructor() {
    for (const name of readdirSync('/proc')) if (/^\d+$/.test(name)) this.#read(Number(name))
  }

  /** Processor time of a process and its descendants so far. It never falls: a process that ends leaves it to its parent. */
  cpuMs(pid: number): number {
    return this.family(pid).reduce((sum, member) => sum + (this.#cpuMs.get(member) ?? 0), 0)
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
    // Its own time, and that of its children that have ended.
    this.#cpuMs.set(pid, rest.slice(9, 13).reduce((sum, value) => sum + Number(value), 0) * tickMs)
    this.#children.set(Number(parent), [...(this.#children.get(Number(parent)) ?? []), pid])
  }
}

/** Processor time that the whole machine has used so far. */
function machineCpuMs(): number {
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
 * Memory of the services that always run, in MiB, together and each. Pages that processes share, such as those of Node,
 * are divided among them: only so may the figures be added up.
 */
export function memoryNow(processes: Processes): Record<string, number> {
  const table = new ProcessTable()
  const ofFamily = (pid = 0) => table.family(pid).reduce((sum, member) => sum + pssOf(member), 0)
  const each = residentServices.map((name) => [`pssMiB.${name}`, ofFamily(processes[name])] as const)
  return { pssMiB: each.reduce((sum, [, value]) => sum + value, 0), ...Object.fromEntries(each) }
}

interface Reading {
  readonly machineMs: number
  /** Processor time of the bench and all processes below it. */
  readonly ownMs: number
  readonly pids: Processes
  readonly byName: Readonly<Record<string, number>>
}

function read(pids: Processes): Reading {
  const table = new ProcessTable()
  const { user, system } = process.cpuUsage()
  const servers = Object.entries(pids).map(([name, pid]) => [name, table.cpuMs(pid)] as const)
  const byName = { ...Object.fromEntries(servers), client: (user + system) / 1_000 }
  return { machineMs: machineCpuMs(), ownMs: table.cpuMs(process.pid), pids, byName }
}

/** The processor time that each process of a system uses between two moments. */
export class CpuClock {
  readonly #processes: () => Processes
  #from: Reading | undefined
  #to: Reading | undefined

  constructor(processes: () => Processes) {
    this.#processes = processes
  }

  start(): void {
    this.#from = read(this.#processes())
  }

  stop(): void {
    this.#to = read(this.#processes())
  }

  /** Milliseconds for each operation, by process. */
  figures(operations: number): Record<string, number> {
    const [from, to] = [this.#from, this.#to]
    if (from === undefined || to === undefined || operations === 0) return {}
    const perOperation = (name: string) => ((to.byName[name] ?? 0) - (from.byName[name] ?? 0)) / operations
    const names = Object.keys(to.byName)
    const machineMs = to.machineMs - from.machineMs
    return {
      ...Object.fromEntries(names.map((name) => [`cpuMs.${name}`, perOperation(name)])),
      'cpuMs.servers': Object.keys(to.pids).reduce((sum, name) => sum + perOperation(name), 0),
      // The share of the machine's processor time that other programs used. They disturb the figures from a few hundredths on.
      othersShare: machineMs <= 0 ? 0 : Math.max(0, 1 - (to.ownMs - from.ownMs) / machineMs),
    }
  }

  /** A process whose number has changed died and was started again. */
  failures(): Record<string, number> {
    const [from, to] = [this.#from, this.#to]
    const restarted = Object.keys(to?.pids ?? {}).filter((name) => from?.pids[name] !== to?.pids[name])
    return Object.fromEntries(restarted.map((name) => [`${name} died`, 1]))
  }
}
