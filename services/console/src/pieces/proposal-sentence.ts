import {
  type FieldSchema,
  fromMinorUnits,
  type Operation,
  operations,
  type Proposal,
  toMinorUnits,
  valueSchema,
} from '@backoffice/contracts'
import type { Display } from './cells.ts'

type Given = Readonly<Record<string, unknown>>
type Signed = Pick<Proposal, 'operation' | 'input'> & { readonly call: Operation | undefined }

/** As they are now. What was signed has their ids, and the name of an operator where its page showed it. */
export interface Names {
  readonly player?: string | undefined
  readonly operator?: string | undefined
}

/** The fields that say whom it is about. */
const owners = ['playerId', 'operatorId', 'environment']

export const signedInput = ({ input }: Pick<Proposal, 'input'>): { readonly given: Given; readonly seen: Given } => {
  const { seen = {}, ...given } = (input ?? {}) as Given & { readonly seen?: Given }
  return { given, seen }
}

/** What a proposal would do and to whom, in one sentence, of nothing but the call that its proposer signed, and names. */
export function sentenceOf(display: Display, proposal: Signed, names: Names = {}): string {
  const { given, seen } = signedInput(proposal)
  const { t, word } = display
  const about = { ...seen, ...given }
  const player = names.player ?? textOf(about.playerId)
  const operator = names.operator ?? textOf(seen.name ?? about.operatorId)
  const environment = about.environment === undefined ? '' : word('value', textOf(about.environment))
  const where = [operator, environment].filter((part) => part !== '').join(', ')
  const whom = player === '' || where === '' ? player || where : `${player} (${where})`
  const moved = movedBy(proposal)
  if (moved !== undefined) {
    const { currency, type } = seen as { readonly currency: string; readonly type?: string }
    const [name, amount] = moved.startsWith('-') ? (['Down', moved.slice(1)] as const) : (['Up', moved] as const)
    const kind = type === undefined ? 'adjust' : 'reverse'
    const values = {
      whom,
      amount: display.money(amount, currency),
      type: word('value', type ?? ''),
      reference: textOf(given.transferId),
    }
    return t(`${kind}${name}`, values)
  }
  if (proposal.operation === operations.payments.endCommand.id) {
    const { amount, currency, depositId } = seen as Readonly<Record<'amount' | 'currency' | 'depositId', string>>
    return t('giveUp', { whom, amount: display.money(amount, currency), depositId })
  }
  const all = Object.entries(given).filter(([field]) => !owners.includes(field))
  const others = all.filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(seen[field]))
  // Where it is so already, it says what.
  const changes = (others.length === 0 ? all : others).map(([field, value]) =>
    changeOf(display, proposal, { field, value, before: seen[field] }),
  )
  return [word('operation', proposal.operation), [whom, ...changes].filter((part) => part !== '').join('; ')].join(': ')
}

/** By how much it would change the player's balance, which has the signed currency. Undefined: by nothing. */
export function movedBy(proposal: Signed): string | undefined {
  const { given, seen } = signedInput(proposal)
  if (typeof seen.currency !== 'string') return undefined
  if (proposal.operation === operations.wallet.adjustWallet.id) return textOf(given.amount)
  if (proposal.operation !== operations.wallet.reverseTransfer.id) return undefined
  return fromMinorUnits(-toMinorUnits(textOf(seen.amount)))
}

interface Change {
  readonly field: string
  readonly value: unknown
  readonly before: unknown
}

function changeOf(display: Display, { call }: Signed, { field, value, before }: Change): string {
  const { properties } = (call?.body ?? {}) as FieldSchema
  const isTime = valueSchema((properties?.[field] ?? {}) as FieldSchema).format === 'date-time'
  const shown = (one: unknown): string => {
    if (Array.isArray(one)) return one.length === 0 ? display.t('addressesAny') : one.join(', ')
    if (one === null || one === '') return '–'
    return isTime ? display.time(textOf(one)) : display.word('value', textOf(one))
  }
  const isSame = before === undefined || JSON.stringify(before) === JSON.stringify(value)
  const change = isSame ? shown(value) : `${shown(before)} → ${shown(value)}`
  return `${display.word('field', field)}: ${change}`
}

const textOf = (value: unknown): string => (value === undefined || value === null ? '' : String(value))
