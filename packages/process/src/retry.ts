import { setTimeout as wait } from 'node:timers/promises'

interface Retrying {
  /** Whether a fault may pass. Told which attempt it was, from 1; what it wants logged it logs. */
  readonly while: (error: unknown, attempt: number) => boolean
  /** At once when left out. */
  readonly pauseMs?: number | (() => number)
  readonly attemptsMax?: number
  /** No attempt begins later, on the clock of `performance.now()`. */
  readonly untilMs?: number
}

/**
 * Runs something until it succeeds.
 * @throws the last fault, when no attempt is left or it does not pass by itself
 */
export async function retry<T>(
  run: (attempt: number) => Promise<T>,
  { while: mayPass, pauseMs = 0, attemptsMax = Number.POSITIVE_INFINITY, untilMs = Number.POSITIVE_INFINITY }: Retrying,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run(attempt)
    } catch (error) {
      const ms = typeof pauseMs === 'number' ? pauseMs : pauseMs()
      const isLast = attempt >= attemptsMax || performance.now() + ms > untilMs
      if (isLast || !mayPass(error, attempt)) throw error
      if (ms > 0) await wait(ms)
    }
  }
}
