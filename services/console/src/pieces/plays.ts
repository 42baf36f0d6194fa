import type { operations, Reply } from '@backoffice/contracts'
import {
  type Cell,
  folded,
  id,
  lines,
  link,
  linkElsewhere,
  moment,
  money,
  nothing,
  type Row,
  rowWith,
  status,
  text,
  words,
} from './cells.ts'
import { detailLines } from './refusals.ts'
import type { Visit } from './visit.ts'

export type Play = Reply<typeof operations.wallet.recallRound>['data'][number]

/** A page of the provider's, over https alone: the provider wrote the address. */
export const providerPage = ({ display }: Visit, address: string | null): Cell =>
  address === null
    ? nothing
    : address.startsWith('https://')
      ? linkElsewhere(display.t('detailsOpen'), address)
      : text(address)

export function playRow(visit: Visit, play: Play): Row {
  const { display, address } = visit
  const { kind, winKind, isSpin, outcome, entryId, betTransactionId, providerTime, standing } = play
  const currency = play.currency ?? ''
  const entry =
    entryId === null ? nothing : link(display.t('ledgerEntry'), address(`/players/${play.playerId}/entries/${entryId}`))
  return rowWith({
    at: lines(
      moment(play.createdAt),
      text(providerTime && display.t('byProvider', { time: display.moment(providerTime) })),
    ),
    play: lines(
      status(winKind === null || winKind === 'win' ? kind : winKind),
      text(isSpin ? display.t('ofSpin') : null),
      outcome === 'posted' ? (play.rolledBack ? status('rolledBack') : nothing) : status(outcome),
      ...refusalCells(visit, play),
      ...(standing === null ? [] : standingCells(visit, standing, currency)),
    ),
    amount: lines(amountOf(play, currency), entry),
    balanceMoved: words(money(play.balanceBefore, currency), text('→'), money(play.balanceAfter, currency)),
    transactionId: lines(
      id(play.transactionId),
      text(betTransactionId && display.t('ofBet', { bet: betTransactionId })),
      text(play.campaignId),
      providerPage(visit, play.detailsUrl),
      id(play.requestId),
      folded(play.bodyDigest, 'SHA-256'),
    ),
  })
}

/** Why it was refused: the words of its code, and what was said with it. */
function refusalCells({ display }: Visit, { code, refusedDetails, currency }: Play): readonly Cell[] {
  if (code === null) return []
  // What a settled bet came to, whose amount has no currency beside it.
  const { result, ...others } = JSON.parse(refusedDetails ?? '{}') as { readonly result?: { readonly won?: string } }
  const won = result?.won === undefined ? {} : { won: display.money(result.won, currency ?? '') }
  const details = { ...others, ...result, ...won }
  return [
    text(display.word('error', code)),
    ...detailLines(display, { details }).map(text),
    { kind: 'code', text: code },
  ]
}

/** Who the player was when the stake was judged. */
function standingCells({ display }: Visit, standing: NonNullable<Play['standing']>, currency: string): readonly Cell[] {
  const { status: value, kycStatus, dailyLimit, dayDeposits } = standing
  const amounts = [dayDeposits ?? '0.00', dailyLimit ?? '0.00'].map((amount) => display.money(amount, currency))
  const [deposits = '', limit = ''] = amounts
  return [
    text(display.t('playerAtBet', { status: display.word('value', value), kyc: display.word('value', kycStatus) })),
    text(dailyLimit && display.t('limitAtBet', { deposits, limit })),
  ]
}

/** What it moved; of a refused one, what was asked for. */
const amountOf = ({ outcome, amount, requestedAmount }: Play, currency: string): Cell => {
  const shown = outcome === 'posted' ? amount : requestedAmount
  return shown === null ? nothing : money(shown, currency)
}
