/** Whole seconds for Retry-After: rounded up, so that nobody comes back too early, and at least one. */
export function retryAfterSeconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000))
}
