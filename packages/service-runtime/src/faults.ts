/** PostgreSQL or NATS is away or shutting down (class 08 and 57P0x, and the sockets' own codes): a wait helps. */
export function isConnectionFault(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = (cause as { code?: unknown }).code
    if (typeof code === 'string' && /^(08|57P0|53|ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)/.test(code)) return true
    if (/connect|timeout exceeded|terminated/i.test(cause.message)) return true
  }
  return false
}
