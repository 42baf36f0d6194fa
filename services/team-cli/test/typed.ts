import type { Input, Operation } from '@backoffice/contracts'
import { RecordedCalls } from '@backoffice/team-access/identity'
import { type TeamUser, TestIssuer } from '@backoffice/test-kit'
import { captured, type WrittenText } from '@backoffice/test-kit/captured'
import t from 'tap'
import { program } from '../src/main.ts'
import { type AnyRow, type Field, fieldsOf } from '../src/row.ts'
import { Session } from '../src/session.ts'

export interface Sent {
  readonly operation: Operation
  readonly input: Input<Operation>
  readonly operationId: string
  readonly approves?: string
}

export interface Typed extends WrittenText {
  readonly sent: readonly Sent[]
  readonly status: typeof process.exitCode
}

type Reply = (operation: Operation, input: Input<Operation>) => unknown

/** An operator that has a brand in each environment: what a command that names one asks for first. */
export const operator = {
  id: 'op_1',
  name: 'Casa Azul',
  status: 'active',
  rateLimitPerMinute: 600,
  storedMebibytesPerDay: null,
  storedRowsPerDay: null,
  allowedAddresses: [],
  replayProtection: 'off',
  brands: [
    { id: 'brd_sandbox', environment: 'sandbox', name: 'Casa Azul sandbox', currency: 'BRL' },
    { id: 'brd_production', environment: 'production', name: 'Casa Azul', currency: 'BRL' },
  ],
}

/** A provider of games, which commands name as well. */
export const provider = {
  ...{ id: 'prv_1', name: 'Evolution', status: 'active', stakesPerMinute: 600, othersPerMinute: 600 },
  ...{ allowedAddresses: [], createdAt: '2026-03-02T00:00:00.000Z', grants: [] },
  keys: [{ key: 'some-1', environment: 'sandbox', createdAt: '', revokedAt: null, lastUsedAt: null }],
}

/** Runs the command line as it was typed, against services that give these replies. Nothing else may write meanwhile. */
export async function typed(
  words: readonly string[],
  reply: Reply = () => ({}),
  recorded?: RecordedCalls,
): Promise<Typed> {
  const sent: Sent[] = []
  const call = async (operation: Operation, options: Omit<Sent, 'operation'>) => {
    sent.push({ operation, ...options })
    // `operators show` is about the operator itself.
    const isLookup = operation.id === 'getOperator' && words.slice(0, 2).join(' ') !== 'operators show'
    if (operation.id === 'getProvider' && words.slice(0, 2).join(' ') !== 'providers show') return provider
    return isLookup ? operator : reply(operation, options.input)
  }
  const open = async () =>
    new Session({ call } as never, recorded === undefined ? {} : { recorded: async () => recorded })
  const { error, ...written } = await captured(() =>
    program(words, open).then((root) => root.parseAsync(words, { from: 'user' })),
  )
  const status = process.exitCode
  process.exitCode = undefined
  return { sent, status, ...written, ...(error === undefined ? {} : { error }) }
}

const samples: Readonly<Record<string, string>> = {
  amount: '-12.50',
  ids: 'dlv_1',
  dailyDepositLimit: '200.00',
  paymentFile: 'a'.repeat(43),
  template: 'https://kyc.example/{reference}',
  cpf: '529.982.247-25',
  email: 'ana@example.com',
  phone: '+5511987654321',
  allowedAddresses: '203.0.113.0/24',
  currency: 'USD',
  timeZone: 'America/Manaus',
  maxWin: '5000.00',
  amountFrom: '5000.00',
  ...{ day: '2026-03-02', from: '2026-03-01', to: '2026-03-02' },
}

function sampleOf({ name, flags, choices }: Field): string {
  if (/<n>/.test(flags)) return '7'
  if (/<time>/.test(flags)) return '2026-03-02'
  if (/<duration>/.test(flags)) return '30m'
  return samples[name] ?? choices.at(-1) ?? 'some-1'
}

/** What a person types for a command: all that it takes, or no more than it needs. */
export function wordsFor(row: AnyRow, how: 'all' | 'needed'): string[] {
  const fields = fieldsOf(row)
  const byPosition = [...(row.arguments ?? []), ...(row.either ?? [])]
  const options = fields
    .filter(({ name }) => !byPosition.includes(name as never))
    .filter((field) => how === 'all' || (field.required && field.default === undefined && !field.nullable))
  const positions = byPosition.flatMap((name) => fields.filter((field) => field.name === name))
  return [
    ...row.path.split(' '),
    ...positions.map(sampleOf),
    ...options.flatMap((field) => {
      const [flag = '', value] = field.flags.split(' ')
      return value === undefined ? [flag] : [flag, sampleOf(field)]
    }),
    '--json',
    ...(row.confirm === undefined ? [] : ['--yes']),
  ]
}

const company = new TestIssuer()
t.teardown(() => company.remove())
export const recorded = new RecordedCalls([company.team])

/** A proposal as its service tells of it, with the call that somebody signed. */
export async function proposedBy<O extends Operation>(
  user: TeamUser,
  operation: O,
  { reason, ...input }: Input<O> & { readonly reason: string },
) {
  const [operationId, proposedAt] = ['opn_1', new Date().toISOString()]
  const call = { operation: `${operation.service}.${operation.id}`, operationId, input: { ...input, reason } }
  const { idToken, proof } = await company.signer(user).sign(call)
  return {
    ...{ id: 'prp_1', operation: operation.id, operationId, state: 'open', input, reason, proposedAt },
    ...{ proposedBy: user, proposedById: `https://identity.test ${user}`, proof, idToken, anchor: null },
  }
}
