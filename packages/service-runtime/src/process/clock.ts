/** Where the time comes from: the system in production, a test's own hand in a test. */
export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }
