import { setTimeout as delay } from 'node:timers/promises'

const defaultTimeoutMs = 10_000
const pauseFirstMs = 10
const pauseMaxMs = 200

/**
 * Runs `probe` until it returns without throwing, and returns its result. Use it for what happens soon, instead of a
 * sleep of guessed length. A probe that returns `false` has not succeeded.
 * @throws the last failure when `timeoutMs` have passed.
 */
export async function eventually<T>(
  probe: () => T | false | Promise<T | false>,
  timeoutMs = defaultTimeoutMs,
): Promise<Exclude<T, false>> {
  const deadline = performance.now() + timeoutMs
  for (let pauseMs = pauseFirstMs; ; pauseMs = Math.min(pauseMs * 2, pauseMaxMs)) {
    try {
      const result = await probe()
      if (result !== false) return result as Exclude<T, false>
      if (performance.now() > deadline) throw new Error(`still false after ${timeoutMs} ms`)
    } catch (error) {
      if (performance.now() > deadline) throw error
    }
    await delay(pauseMs)
  }
}
