import { type Static, Type } from '@sinclair/typebox'
import {
  type Audience,
  audiences,
  internal,
  type Operation,
  type OperationEntry,
  type OperationKind,
  type ServiceName,
  team,
} from '../operation.ts'
import { personal } from '../personal.ts'
import { EnvironmentName, Id, Note, Reason, Timestamp } from '../resources.ts'
import { described, Nullable, object, optional, pageOf, text } from '../schema.ts'
import { everyRole } from '../team.ts'
import { cursorField, seenField } from './fields.ts'

/** One field of a record, before and after what a person of the team did. */
export const AuditedChange = object({
  field: text(64),
  before: Nullable(personal('player', text(2_048))),
  after: Nullable(personal('player', text(2_048))),
})
export type AuditedChange = Static<typeof AuditedChange>

/** Somebody's account: issuer and subject. A name may change, and this does not. */
export const AccountId = personal('staff', text(512))

export const AuditEntry = object({
  id: text(64),
  at: Timestamp,
  actor: personal('staff', text(254)),
  actorId: Nullable(AccountId, 'Null for what a service did by itself.'),
  operation: text(64),
  operationId: text(64),
  subject: Nullable(text(200)),
  reason: Nullable(Note),
  /** Without secrets. */
  input: personal(['player', 'note'], Type.Unknown()),
  /** `done`, or the code that it was refused with. */
  outcome: text(64),
  /** Thumbprint of the key that signed it. Null for what a service did by itself. */
  session: Nullable(text(64)),
  /** Where the person worked. Null for what a service did by itself. */
  tool: Nullable(text(32)),
  /** What became different in the record. Null where nothing did. */
  changes: Nullable(Type.Array(AuditedChange, { maxItems: 20 })),
})
export type AuditEntry = Static<typeof AuditEntry>

/** In a list, with who asked for what the caller agreed to, and why. Null where one was enough. */
const ListedAuditEntry = object({
  ...AuditEntry.properties,
  proposalId: Nullable(Id),
  proposedBy: Nullable(personal('staff', text(254))),
  proposalReason: Nullable(Note),
})
export type ListedAuditEntry = Static<typeof ListedAuditEntry>

/** What proves a call of the team to somebody who trusts no service. Each is null where there was none. */
const evidence = {
  /** The call, signed with the key of the session: a JWS. */
  proof: Nullable(text(4_096)),
  /** It names the person, and certifies the key of the session. Null for a machine. */
  idToken: Nullable(personal('staff', text(8_192))),
  /** The public key that both rest on, as a JWK: the provider's, or the machine's own. */
  anchor: Nullable(Type.Unknown()),
}

/** A call as a service has kept it. */
export const SignedCall = object({
  operationId: text(64),
  actor: personal('staff', text(254)),
  actorId: Nullable(AccountId),
  at: Timestamp,
  input: personal(['player', 'note'], Type.Unknown()),
  ...evidence,
})

export type SignedCall = Static<typeof SignedCall>

/** An entry of the trail with all that it takes to verify it. */
export const ExportedAuditEntry = object({
  ...AuditEntry.properties,
  ...evidence,
  /** What two people agreed to. Null where one was enough, and where nobody has agreed. */
  proposal: Nullable(object({ id: Id, proposed: SignedCall, approved: Nullable(SignedCall) })),
})
export type ExportedAuditEntry = Static<typeof ExportedAuditEntry>

export const proposalStates = ['open', 'approved', 'declined', 'expired'] as const
export type ProposalState = (typeof proposalStates)[number]

/** A team has fewer people. If there are more, those with the latest sessions are listed. */
export const teamMembersMax = 400

/** Somebody of the team, or a machine that acts for it. */
export const TeamMember = object({
  name: personal('staff', text(254)),
  id: Nullable(AccountId),
  kind: Type.Union([Type.Literal('person'), Type.Literal('machine')]),
  latestSessionAt: Timestamp,
})
export type TeamMember = Static<typeof TeamMember>

/** One of somebody's own sessions, as the service has seen it. */
export const OwnSession = object({
  /** Thumbprint of its key. */
  session: text(64),
  /** The client at the identity provider that it was begun with: the console's, or the command line's. */
  client: text(256),
  begunAt: Timestamp,
  endsAt: Timestamp,
  firstUsedAt: Timestamp,
})
export type OwnSession = Static<typeof OwnSession>
const ownSessionsMax = 50

/** A command of an outbox that its receiver has not done, although it was sent. */
export const StuckCommand = object({
  id: text(64),
  /** The service and operation that it is for, such as `wallet.creditAccount`. */
  operation: text(128),
  /** The id of the record that it is about. */
  subject: text(64),
  environment: EnvironmentName,
  createdAt: Timestamp,
  attempts: Type.Integer(),
  /** Null before the first failure. */
  lastFault: Nullable(text(200)),
  /** Under this id the receiver logged why it failed. */
  requestId: Nullable(text(64)),
})
export type StuckCommand = Static<typeof StuckCommand>

/** A call that one person made and that a second one is to make, before it is carried out. */
export const Proposal = object({
  id: Id,
  operation: text(64),
  /** Without the reason: whoever approves makes the same call. */
  input: personal(['player', 'note'], Type.Unknown()),
  reason: Nullable(Note),
  proposedBy: personal('staff', text(254)),
  proposedById: Nullable(AccountId),
  proposedAt: Timestamp,
  /** Until then somebody else may carry it out. */
  expiresAt: Timestamp,
  operationId: text(64),
  state: Type.Union(proposalStates.map((state) => Type.Literal<ProposalState>(state))),
  decidedBy: Nullable(personal('staff', text(254))),
  decidedAt: Nullable(Timestamp),
  decisionReason: Nullable(Note),
  /** Of the call that proposed it. Only where one proposal is asked for. */
  ...evidence,
})
export type Proposal = Static<typeof Proposal>

/**
 * The operations that every service has. `service()` adds them to each table, and the service runtime implements them.
 */
export const runtimeEntries = {
  /**
   * Resolves an operation id whose outcome the caller does not know. It returns the stored reply, or writes a
   * tombstone, so that a late message with that id is refused.
   */
  abandonOperation: internal.direct({
    callers: ['gateway'],
    summary: 'Resolve an operation of unknown outcome',
    body: object({ abandonedOperationId: Type.String({ minLength: 1, maxLength: 64 }) }),
    reply: object({
      outcome: Type.Union([Type.Literal('replied'), Type.Literal('refused'), Type.Literal('abandoned')]),
      /** The reply's body when `replied`; {code, message, details} when `refused`; null when `abandoned`. */
      reply: Type.Unknown(),
    }),
  }),

  /**
   * Tells a service of a new brand, which is that of the scope. From then on the service refuses each call whose scope says
   * anything else of the brand. Registering it again changes nothing.
   */
  registerBrand: internal.direct({
    callers: ['gateway'],
    summary: 'Register a brand: whose it is, its environment, currency and time zone, for ever',
    reply: object({ brandId: Id }),
  }),

  listAudit: team.query({
    roles: ['auditor'],
    summary: "List the team's actions in one service, newest first",
    body: object({
      actor: Type.Optional(personal('staff', Type.String({ description: 'The person.' }))),
      subject: optional(Type.String(), 'The id of a player, withdrawal, operator, key, …'),
      operation: optional(Type.String({ maxLength: 64 }), 'What was done, by the name of its operation.'),
      actionsOnly: optional(Type.Boolean(), 'Without reads, of which there are many more.'),
      since: Type.Optional(Timestamp),
      before: cursorField,
      limit: Type.Integer({ minimum: 1, maximum: 1000 }),
    }),
    reply: pageOf(ListedAuditEntry),
  }),

  /** Each entry carries its own proofs, so any part of an export can be verified without the rest. */
  exportAudit: team.query({
    roles: ['auditor'],
    summary: "Export the team's actions in one service over a period, oldest first, with their proofs",
    body: object({
      from: described(Timestamp, 'Included.'),
      to: described(Timestamp, 'Not included; at least a minute ago.'),
      cursor: cursorField,
      limit: Type.Integer({ minimum: 1, maximum: 1000 }),
    }),
    reply: pageOf(ExportedAuditEntry),
    rejects: ['VALIDATION_ERROR'],
    timeoutMs: 30_000,
  }),

  /** Each service knows the sessions that have called it. */
  listSessions: team.query({
    roles: ['integration', 'auditor'],
    summary: 'List the people and machines that have called one service, and when their latest session began',
    body: object({ since: described(Timestamp, 'Sessions whose first call was at this time or later.') }),
    reply: object({ data: Type.Array(TeamMember, { maxItems: teamMembersMax }) }),
  }),

  listOwnSessions: team.query({
    roles: everyRole,
    summary: 'List your own sessions that one service has seen and that may still act, newest first',
    reply: object({ data: Type.Array(OwnSession, { maxItems: ownSessionsMax }) }),
  }),

  listCommands: team.query({
    roles: ['integration', 'finance', 'auditor'],
    summary: 'List the commands of one service that have waited for a minute or longer, oldest first',
    body: object({
      commandId: optional(Id, 'Only this one, however long it has waited.'),
      after: optional(Id, 'Go on after this command.'),
      limit: Type.Integer({ minimum: 1, maximum: 1000 }),
    }),
    reply: pageOf(StuckCommand),
  }),

  listProposals: team.query({
    roles: everyRole,
    summary: 'List the calls of one service that take two people, newest first',
    body: object({
      proposalId: optional(Id, 'Only this one.'),
      state: Type.Optional(Type.Union(proposalStates.map((state) => Type.Literal<ProposalState>(state)))),
      before: optional(Id, 'Go on below this proposal.'),
      limit: Type.Integer({ minimum: 1, maximum: 1000 }),
    }),
    reply: pageOf(Proposal),
  }),

  declineProposal: team.command({
    roles: everyRole,
    summary: 'Decline what somebody proposed, or take back what one proposed oneself',
    body: object({
      proposalId: Id,
      // Its proposer has signed the rest with that id.
      ...seenField({ operation: Type.String({ pattern: '^[A-Za-z]{1,64}$' }), operationId: Id }),
      reason: Reason,
    }),
    reply: object({ proposalId: Id, state: Type.Literal('declined') }),
    rejects: ['PROPOSAL_NOT_FOUND', 'NOT_AS_SEEN', 'PROPOSAL_NOT_OPEN'],
  }),

  /**
   * Seals what a service stored before it sealed personal data, and seals again what is under an older master key. Each call
   * does a part; called again with its cursor, it goes on from there.
   */
  sealStoredData: team.direct({
    roles: ['integration'],
    summary: 'Seal stored personal data under the newest master key',
    body: object({
      after: optional(Type.String({ minLength: 1, maxLength: 512 }), 'The cursor of the call before.'),
      reason: Type.Optional(Reason),
    }),
    reply: object({ sealed: Type.Integer(), nextCursor: Nullable(text(512)) }),
    timeoutMs: 30_000,
  }),
}

export type RuntimeOperationId = keyof typeof runtimeEntries
/** The operations that a service need not implement itself. */
export const runtimeOperationIds = Object.keys(runtimeEntries) as readonly RuntimeOperationId[]

type OperationsOf<Entries> = {
  readonly [Id in keyof Entries & string]: Entries[Id] extends OperationEntry<
    infer Kind,
    infer P,
    infer Q,
    infer B,
    infer R,
    infer For
  >
    ? Operation<Id, Kind, P, Q, B, R, For>
    : never
}

/** A service's table: the operations that it declares, and those that every service has. */
export type ServiceTable<Entries> = OperationsOf<Entries & typeof runtimeEntries>

/**
 * Builds the table of one service: the key of an entry is the operation's id, and readers meet the operations in the
 * order of the keys.
 */
export function service<
  // The constraint names no more of an entry than this. Other types named here would be inferred for schemas that an
  // entry leaves out.
  const Entries extends Readonly<Record<string, { readonly kind: OperationKind; readonly audience: Audience }>>,
>(name: ServiceName, entries: Entries): ServiceTable<Entries> {
  const table = Object.entries({ ...entries, ...runtimeEntries }).map(([id, entry]) => [
    id,
    { ...entry, id, service: name, ...(isOfOperators(name, entry) ? {} : { callers: [] }) },
  ])
  return Object.fromEntries(table) as ServiceTable<Entries>
}

/** No request of an operator reaches the reconciler, so no other service has anything to ask of it. */
const isOfOperators = (name: ServiceName, { audience }: { readonly audience: Audience }): boolean =>
  name !== 'reconciler' || audiences[audience].caller !== 'service'
