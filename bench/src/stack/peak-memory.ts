import type { Sample } from '../case.ts'
import { memoryOf, ProcessTable } from './processes.ts'
import type { RunningStack } from './running-stack.ts'

/** The most memory that the services used together at one reading of several, and what each used then. */
export class PeakMemory {
  readonly #stack: RunningStack
  #figures: Readonly<Record<string, number>> = { rssMiB: 0 }

  constructor(stack: RunningStack) {
    this.#stack = stack
  }

  look(): void {
    const table = new ProcessTable()
    const services = Object.entries(this.#stack.servicePids()).map(
      ([name, pid]) => [name, memoryOf(table.family(pid))] as const,
    )
    const rssMiB = services.reduce((sum, [, memory]) => sum + memory.rssMiB, 0)
    if (rssMiB <= (this.#figures.rssMiB ?? 0)) return
    this.#figures = {
      rssMiB,
      pssMiB: services.reduce((sum, [, memory]) => sum + memory.pssMiB, 0),
      ...Object.fromEntries(services.map(([name, memory]) => [`rssMiB.${name}`, memory.rssMiB])),
    }
  }

  sample(failures: ReadonlyMap<string, number> = new Map()): Sample {
    return { figures: this.#figures, failures: Object.fromEntries(failures) }
  }
}
