import { type Operation, type ServiceName, tags } from '../operation.ts'
import { gateway } from './gateway.ts'
import { payments } from './payments.ts'
import { players } from './players.ts'
import { reconciler } from './reconciler.ts'
import { wallet } from './wallet.ts'
import { webhooks } from './webhooks.ts'

export { type HomologationCheck, homologationCheckNames, homologationChecks } from './fields.ts'
export { credentialsShownMax, OperatorRecord } from './gateway.ts'
export * from './payment-records.ts'
export { stakeRejects } from './play-admission.ts'
export * from './player-records.ts'
export { grantsShownMax, ProviderRecord } from './providers.ts'
export {
  Difference,
  type DifferenceClass,
  differenceClasses,
  InFlight,
  ReconciliationReport,
  RecordedRestore,
} from './reconciler.ts'
export { HeldWin, PlayDay, PlayStanding, PlaySums, TeamPlay, TeamRound } from './rounds.ts'
export {
  AuditEntry,
  AuditedChange,
  ExportedAuditEntry,
  type ListedAuditEntry,
  OwnSession,
  Proposal,
  type ProposalState,
  proposalStates,
  type RuntimeOperationId,
  runtimeOperationIds,
  type SignedCall,
  StuckCommand,
  service,
  TeamMember,
  teamMembersMax,
} from './runtime.ts'
export { HoldState, TeamEntry } from './wallet.ts'
export * from './webhook-records.ts'

/** The operation table, by the service that runs the operation. */
export const operations = { gateway, players, wallet, payments, webhooks, reconciler } as const satisfies Record<
  ServiceName,
  object
>

export const allOperations: readonly Operation[] = Object.values(operations).flatMap((table): Operation[] =>
  Object.values(table),
)

const tagOrder = Object.keys(tags)
/** By tag, then by the name of the service; inside one service the order of its table stays. */
const byReadingOrder = (a: Operation, b: Operation) =>
  tagOrder.indexOf(a.tag ?? '') - tagOrder.indexOf(b.tag ?? '') || a.service.localeCompare(b.service)
const withRoute = allOperations.filter(({ http }) => http !== undefined)
/** What providers of games call, on a surface of its own. */
export const providerOperations: readonly Operation[] = withRoute.filter(({ audience }) => audience === 'provider')
/** What operators call and read, in the order in which a reader meets it. */
export const httpOperations: readonly Operation[] = withRoute
  .filter(({ audience }) => audience !== 'provider')
  .sort(byReadingOrder)
