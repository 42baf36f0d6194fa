/** The limits of the specification, each written once. */
export const idempotencyKeyPattern = '^[A-Za-z0-9_:.-]{8,128}$'
/** How long a key is remembered, from its first use. */
export const idempotencyMemoryHours = 24
export const requestsPerMinuteDefault = 600
export const webhookAttemptsMax = 8
export const bodyBytesMax = 64 * 1024
