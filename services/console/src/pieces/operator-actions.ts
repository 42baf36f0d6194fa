import {
  brandDefaults,
  defined,
  type Environment,
  type Operation,
  operations,
  type Reply,
  seenOf,
} from '@backoffice/contracts'
import { type Cell, lines, nothing, status, text } from './cells.ts'
import type { Option } from './forms.ts'
import { type Decision, labelOf, type Secret, type Visit } from './visit.ts'

const { getOperator, suspendOperator, activateOperator, setOperatorLimits, setReplayProtection, issueCredential } =
  operations.gateway
const { createOperator, showHomologation } = operations.gateway
const { setDocumentUrl, showDocumentUrl } = operations.players
const { setWebhookUrl, rotateWebhookSecret, disableWebhook, replayEvents, showWebhook } = operations.webhooks

/** Where replies have what is shown once, in the order of reading: the field of the catalogue, and the way to its value. */
const places = new Map<Operation, Readonly<Record<string, readonly string[]>>>([
  [
    createOperator,
    {
      sandboxKey: ['sandbox', 'key'],
      sandboxSecret: ['sandbox', 'secret'],
      sandboxWebhookSecret: ['sandbox', 'webhookSecret'],
      productionKey: ['production', 'key'],
      productionSecret: ['production', 'secret'],
      productionWebhookSecret: ['production', 'webhookSecret'],
    },
  ],
  [issueCredential, { key: ['key'], secret: ['secret'] }],
  [operations.gateway.issueProviderKey, { key: ['key'], secret: ['secret'] }],
  [rotateWebhookSecret, { webhookSecret: ['webhookSecret'] }],
  [setDocumentUrl, { documentKey: ['secret'] }],
])

/** Reads the secrets of an operation's reply; undefined for an operation that answers none. */
export function secretsIn(operation: Operation): ((reply: unknown) => readonly Secret[]) | undefined {
  const fields = places.get(operation)
  if (fields === undefined) return undefined
  return (reply) => {
    // Outside development an operator is created without production's pair.
    const there = Object.entries(fields).filter(([, path]) => path.length === 1 || partAt(reply, path[0]) !== null)
    const found = there.map(([field, path]) => ({ field, value: textAt(reply, path) }))
    // It makes a key only when asked for one.
    if (operation === setDocumentUrl && found.every(({ value }) => value === null)) return []
    // Keys are no secrets. Where the secrets are gone, nothing is left to be copied.
    const areGone = found.every(({ field, value }) => value === null || isPublic(field))
    return areGone ? found.map(({ field }) => ({ field, value: null })) : found
  }
}

const isPublic = (field: string) => ['key', 'sandboxKey', 'productionKey'].includes(field)

const partAt = (part: unknown, name = ''): unknown => (part as Readonly<Record<string, unknown>> | null)?.[name]

function textAt(reply: unknown, path: readonly string[]): string | null {
  const value = path.reduce(partAt, reply)
  return typeof value === 'string' ? value : null
}

export type Operator = Reply<typeof getOperator>

/** What is known of an operator in one environment. Undefined: nobody answered, or this person may not read it. */
export interface OperatorState {
  readonly operator: Operator
  readonly webhook: Reply<typeof showWebhook> | undefined
  readonly documents: Reply<typeof showDocumentUrl> | undefined
  readonly homologation: Reply<typeof showHomologation> | undefined
}

/** Which addresses may call: an empty list would permit all of them, so that is a choice of its own. */
export const addressOptions = ({ t }: Visit['display']): readonly Option[] => [
  { name: 'given', label: t('addressesGiven') },
  { name: 'any', label: t('addressesAny'), button: t('addressesAnyNow'), value: [] },
]

/** Whoever has the key may call from everywhere: in production that is worth a look. */
export const addressesCell = (
  { environment }: Visit,
  { allowedAddresses: all }: { readonly allowedAddresses: readonly string[] },
): Cell => {
  if (all.length > 0) return lines(...all.map(text))
  return environment === 'production' ? status('anyAddress') : nothing
}

interface Action {
  /** What it belongs to, as a heading above it. */
  readonly group: NonNullable<Decision['group']>
  readonly operation: Operation
  /** Plain when absent. */
  readonly tone?: Decision['tone']
  readonly initial?: (state: OperatorState) => Decision['initial']
  /** Of fields whose emptiness would do something. */
  readonly options?: (display: Visit['display']) => NonNullable<Decision['options']>
  /** What must be filled in besides the reason. */
  readonly required?: readonly string[]
  /** The record that is changed, where it is not the operator's own. Undefined where nobody said: then nobody decides. */
  readonly record?: (state: OperatorState) => object | undefined
  /** Whether it makes sense now. */
  readonly when?: (state: OperatorState) => boolean
  /** Fields that it does not ask for. */
  readonly without?: (state: OperatorState, environment: Environment) => readonly string[]
  /** Whether the reply says that there is more to do by the same form. */
  readonly more?: (reply: unknown) => boolean
}

const operatorOf = ({ operator }: OperatorState) => operator
const webhookOf = ({ webhook }: OperatorState) => webhook

/** By the last part of the form's address, in the order of the page. */
const actions: Readonly<Record<string, Action>> = {
  issue: {
    group: 'keys',
    operation: issueCredential,
    // For the first pair of production, and only while something is not proved.
    without: ({ homologation }, environment) =>
      environment === 'production' && homologation?.isLive === false && homologation.proved < homologation.checks.length
        ? []
        : ['withoutHomologation'],
  },
  webhookUrl: {
    group: 'webhooks',
    operation: setWebhookUrl,
    initial: ({ webhook }) => ({ url: webhook?.url ?? '' }),
    record: webhookOf,
  },
  // After a leak it must be 0: nobody gets a day of the former secret for an empty field.
  webhookSecret: {
    group: 'webhooks',
    operation: rotateWebhookSecret,
    record: webhookOf,
    initial: () => ({ overlapHours: '24' }),
    required: ['overlapHours'],
  },
  replay: {
    group: 'webhooks',
    operation: replayEvents,
    record: webhookOf,
    when: ({ webhook }) => webhook?.enabled === true && webhook.url !== null,
    // Failed and withheld ones: to choose among states, there is the command line.
    without: () => ['states', 'after'],
    // Those that are scheduled wait, so the same form takes the next ones.
    more: (reply) => (reply as Reply<typeof replayEvents>).nextCursor !== null,
  },
  disableWebhook: {
    group: 'webhooks',
    operation: disableWebhook,
    tone: 'bad',
    record: webhookOf,
    when: ({ webhook }) => webhook?.enabled === true && webhook.url !== null,
  },
  limits: {
    group: 'access',
    operation: setOperatorLimits,
    initial: ({ operator }) => ({
      rateLimitPerMinute: String(operator.rateLimitPerMinute),
      storedMebibytesPerDay: String(operator.storedMebibytesPerDay ?? ''),
      storedRowsPerDay: String(operator.storedRowsPerDay ?? ''),
      allowedAddresses: operator.allowedAddresses.length === 0 ? 'any' : 'given',
      allowedAddressesGiven: operator.allowedAddresses.join('\n'),
    }),
    options: (display) => ({ allowedAddresses: addressOptions(display) }),
  },
  replayProtection: {
    group: 'access',
    operation: setReplayProtection,
    initial: ({ operator }) => ({ replayProtection: operator.replayProtection }),
  },
  documents: {
    group: 'access',
    operation: setDocumentUrl,
    initial: ({ documents }) => ({ template: 'given', templateGiven: documents?.template ?? '' }),
    options: ({ t }) => ({
      template: [
        { name: 'given', label: t('templateGiven') },
        { name: 'none', label: t('templateNone'), button: t('templateNoneNow'), value: null },
      ],
    }),
    record: ({ documents }) => documents,
  },
  suspend: {
    group: 'access',
    operation: suspendOperator,
    tone: 'bad',
    when: ({ operator }) => operator.status === 'active',
  },
  activate: {
    group: 'access',
    operation: activateOperator,
    tone: 'good',
    when: ({ operator }) => operator.status === 'suspended',
  },
}

/** What somebody can do with an operator now. Empty for whoever only reads. */
export const operatorDecisions = (visit: Visit, state: OperatorState): readonly Decision[] =>
  Object.entries(actions)
    .filter(([, { record = operatorOf }]) => record(state) !== undefined)
    .filter(([, { operation, when }]) => visit.person.mayCall(operation) && when?.(state) !== false)
    .map(([name, action]) => decisionOf(visit, state, { name, ...action }))

/** The one of a form; undefined where there is none of that name. */
export function operatorDecision(visit: Visit, state: OperatorState, name: string): Decision | undefined {
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined
  return action && decisionOf(visit, state, { name, ...action })
}

function decisionOf(visit: Visit, state: OperatorState, action: Action & { readonly name: string }): Decision {
  const { display, environment } = visit
  const { name, group, operation, tone, initial, options, record = operatorOf, without, required = [], more } = action
  const { operator } = state
  // It acts in the environment of the page, or in both.
  const ofEnvironment = 'environment' in operation.body.properties
  const shown = record(state)
  const left = without?.(state, environment) ?? []
  const seen = shown && seenOf(operation, shown as never)
  const ask = ofEnvironment ? 'operatorAskIn' : 'operatorAsk'
  return {
    name,
    group,
    operation,
    fixed: { operatorId: operator.id, ...(ofEnvironment ? { environment } : {}), ...defined({ seen }) },
    only: Object.keys(operation.body.properties).filter((field) => field !== 'seen' && !left.includes(field)),
    required: ['reason', ...required],
    ...defined({ initial: initial?.(state), options: options?.(display) }),
    ask: display.t(ask, { operator: operator.name, environment: display.t(environment) }),
    done: (reply) =>
      `${display.t(labelOf(operation))}: ${operator.name}${more?.(reply) ? ` ${display.t('replayMore')}` : ''}`,
    ...defined({ tone }),
    secrets: secretsIn(operation),
  }
}

/** Makes an operator or a provider of games. */
export const makingDecision = (
  { display }: Visit,
  operation: Operation,
  more: Pick<Decision, 'ask'> & Partial<Decision>,
) => ({
  name: 'create',
  operation,
  fixed: {},
  required: ['reason'],
  options: {
    allowedAddresses: addressOptions(display).map(({ name, label, value }) => ({ name, label, ...defined({ value }) })),
  },
  tone: 'good' as const,
  secrets: secretsIn(operation),
  ...more,
})

export const createDecision = (visit: Visit): Decision =>
  makingDecision(visit, createOperator, {
    initial: { ...brandDefaults, allowedAddresses: 'any' },
    ask: visit.display.t('createAsk'),
    leadsTo: () => '/operators',
  })

/** A key of an operator or of a provider of games, and whose it is. */
export interface OwnedKey {
  readonly holder: { readonly name: string }
  readonly credential: Pick<Operator['credentials'][number], 'key' | 'environment'>
}

export const revokeDecision = (
  { display }: Visit,
  operation: Operation,
  { holder, credential }: OwnedKey,
): Decision => ({
  name: 'revoke',
  operation,
  fixed: { key: credential.key, seen: { name: holder.name, environment: credential.environment } },
  required: ['reason'],
  ask: display.t('revokeAsk', { key: lastFour(credential.key), operator: holder.name }),
  done: `${display.t(labelOf(operation))}: ${lastFour(credential.key)}`,
  tone: 'bad',
})

/** A key is no secret, but people tell keys apart by their ends. */
export const lastFour = (key: string): string => `…${key.slice(-4)}`
