import { createHash } from 'node:crypto'
import { parentPort, Worker } from 'node:worker_threads'

/** Of what servers do with a message, always the same. */
const message = JSON.stringify(
  Array.from({ length: 60 }, (_, number) => ({ id: `led_${number}`, amount: '10.00', at: '2026-03-02T12:00:00.000Z' })),
)
const repetitions = 300
const everyMs = 250

function work(): void {
  for (let count = 0; count < repetitions; count++)
    createHash('sha256')
      .update(JSON.stringify(JSON.parse(message)))
      .digest('hex')
}

/**
 * How fast the machine is just now: the processor time of a fixed piece of work, which a thread does four times a second, in
 * some hundredths of a core. A virtual core is not always equally fast.
 */
export class Yardstick implements Disposable {
  readonly #worker = new Worker(new URL(import.meta.url))
  #taken: number[] = []

  constructor() {
    this.#worker.on('message', (ms: number) => this.#taken.push(ms))
    this.#worker.unref()
  }

  /** The mean since the last look, in milliseconds. */
  look(): number {
    const taken = this.#taken
    this.#taken = []
    return taken.reduce((sum, ms) => sum + ms, 0) / taken.length
  }

  [Symbol.dispose](): void {
    void this.#worker.terminate()
  }
}

if (parentPort !== null) {
  const port = parentPort
  setInterval(() => {
    const from = process.threadCpuUsage()
    work()
    const { user, system } = process.threadCpuUsage(from)
    port.postMessage((user + system) / 1_000)
  }, everyMs)
}
