import { setTimeout as delay } from 'node:timers/promises'

const pauseFirstMs = 10
const pauseMaxMs = 200
/** After so long it says what it waits for, and again each time that it has waited twice as long. */
const saidFirstAfterMs = 10_000

/**
 * Runs `probe` until it returns without throwing, and returns its result. Use it for what happens soon, instead of a
 * sleep of guessed length. A probe that returns `false` has not succeeded. It has no limit but that of its file, since a
 * number of seconds would say more about the machine than about the code. What is awaited stands on standard error.
 */
export async function eventually<T>(probe: () => T | false | Promise<T | false>): Promise<Exclude<T, false>> {
  const waiting = new Waiting(probe)
  for (let pauseMs = pauseFirstMs; ; pauseMs = Math.min(pauseMs * 2, pauseMaxMs)) {
    let fault: unknown = 'false'
    try {
      const result = await probe()
      if (result !== false) return result as Exclude<T, false>
    } catch (error) {
      fault = error
    }
    waiting.say(fault)
    await delay(pauseMs)
  }
}

class Waiting {
  readonly #begunAt = performance.now()
  readonly #probe: { toString(): string }
  readonly #calledFrom = new Error().stack?.split('\n').slice(3, 6).join('\n') ?? ''
  #nextAfterMs = saidFirstAfterMs

  constructor(probe: { toString(): string }) {
    this.#probe = probe
  }

  say(fault: unknown): void {
    const waitedMs = performance.now() - this.#begunAt
    if (waitedMs < this.#nextAfterMs) return
    this.#nextAfterMs = waitedMs * 2
    const said = fault instanceof Error ? fault.message : String(fault)
    process.stderr.write(
      `still waiting after ${(waitedMs / 1_000).toFixed(0)} s for ${this.#probe}\n${this.#calledFrom}\n  last: ${said}\n`,
    )
  }
}
