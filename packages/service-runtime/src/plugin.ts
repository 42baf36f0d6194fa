// For a plugin of `defineService`, beside what services take.
export type { AuditedCall, AuditOutcome, CallToAudit, Gate, TwoPeopleCall } from './commands/gate.ts'
export type { Handler, QueryTools } from './commands/handle.ts'
export { isStorable } from './commands/reply.ts'
export { keyAbove, keyOf } from './database/db.ts'
export type { Plugin } from './service.ts'
