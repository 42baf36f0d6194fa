/** Where the time comes from: the system's clock in production, a test's own clock in a test. */
export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }
