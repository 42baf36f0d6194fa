import type { Case, Sample, Setting } from './case.ts'
import { latencyFigures, percentile } from './figures.ts'
import { closedLoop, type Work } from './load/load.ts'
import type { Options } from './options.ts'
import { machineCpuMs, type Processes, ProcessTable } from './stack/processes.ts'
import type { Subject } from './stack/subject.ts'

export interface LoadSettings {
  readonly options: Options
  readonly clients: number
  /** The servers, whose processor time is counted by process. Everything else below the bench is the client's. */
  readonly processes: () => Processes
}

/** Puts load on something and measures operations a second, latencies and processor time per operation. */
export async function measureLoad({ options, clients, processes }: LoadSettings, work: Work): Promise<Sample> {
  const { windowMs, warmUpMs } = options
  const clock = new CpuClock(processes)
  const marks = { opened: () => clock.start(), closed: () => clock.stop() }
  const load = await closedLoop({ clients, warmUpMs, windowMs, ...marks }, work)
  const { operationsMs, requestsMs } = load
  const operations = operationsMs.length
  return {
    figures: {
      perSecond: (operations * 1_000) / load.windowMs,
      operations,
      operationP50Ms: percentile(operationsMs, 0.5),
      ...latencyFigures(requestsMs),
      ...clock.figures(operations),
    },
    failures: { ...Object.fromEntries(load.failures), ...clock.failures() },
  }
}

interface LoadCase extends Pick<Case, 'id' | 'title'> {
  readonly clients: number
  /** Operations a second, unless it is something else. */
  readonly shows?: string
}

/** A load on the system of one checkout. */
export function loadCase({ options }: Pick<Setting, 'options'>, subject: Subject, load: LoadCase, work: Work): Case {
  const { id, title, clients, shows = 'perSecond' } = load
  const settings = { options, clients, processes: () => subject.processes() }
  return { id, title, column: subject.column, shows, measure: () => measureLoad(settings, work) }
}

interface Reading {
  readonly machineMs: number
  /** Processor time of the bench and all processes below it. */
  readonly ownMs: number
  readonly pids: Processes
  readonly byName: Readonly<Record<string, number>>
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

  figures(operations: number): Record<string, number> {
    const [from, to] = [this.#from, this.#to]
    if (from === undefined || to === undefined || operations === 0) return {}
    const perOperation = (name: string) => ((to.byName[name] ?? 0) - (from.byName[name] ?? 0)) / operations
    const names = Object.keys(to.byName)
    const servers = names.filter((name) => name !== 'client')
    const machineMs = to.machineMs - from.machineMs
    return {
      ...Object.fromEntries(names.map((name) => [`cpuMs.${name}`, perOperation(name)])),
      'cpuMs.servers': servers.reduce((sum, name) => sum + perOperation(name), 0),
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

function read(pids: Processes): Reading {
  const table = new ProcessTable()
  const { user, system } = process.cpuUsage()
  return {
    machineMs: machineCpuMs(),
    ownMs: table.cpuMs(process.pid),
    pids,
    byName: {
      ...Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, table.cpuMs(pid)])),
      client: (user + system) / 1_000,
    },
  }
}
