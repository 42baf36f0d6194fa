import { operations, type Reply } from '@backoffice/contracts'
import { factsOf, id, link, rowSchema, type Shown, status, text } from './cells.ts'
import { operatorName } from './operator-name.ts'
import type { Pages } from './route.ts'
import type { Visit } from './visit.ts'

const { showPlayer } = operations.players
const { listEntries } = operations.wallet
const { listDeposits, listWithdrawals } = operations.payments

type Player = Reply<typeof showPlayer>
type Entry = Reply<typeof listEntries>['data'][number]
type Withdrawal = Reply<typeof listWithdrawals>['data'][number]
type Deposit = Reply<typeof listDeposits>['data'][number]

const rowsMax = 20

/** One player: who it is, its money and what has happened. */
export const playerPages: Pages = (route) => {
  route.get('/players/:playerId', async (visit) => {
    const { person, params, display, environment } = visit
    const player = await person.call(showPlayer, { playerId: params.playerId ?? '' })
    const path = `/players/${player.id}`
    if (player.environment !== environment) return visit.reply.redirect(`/${player.environment}${path}`, 303)
    const [operator, money, deposits, withdrawals] = await Promise.all([
      operatorName(visit, player.operatorId),
      moneyOf(visit, player),
      depositsOf(visit, player),
      withdrawalsOf(visit, player),
    ])
    const shown: readonly Shown<Player>[] = [
      ['playerStatus', (row) => status(row.status)],
      [
        'kycStatus',
        (row) =>
          row.kycStatus === 'nao_iniciado'
            ? status(row.kycStatus)
            : link(display.word('value', row.kycStatus), visit.address(`/kyc/${row.id}`)),
      ],
      ...money.facts,
      'cpf',
      'email',
      'phone',
      'birthDate',
      ['operator', ({ operatorId }) => link(operator, visit.address(`/operators/${operatorId}`))],
      'externalId',
      'dailyDepositLimit',
      'selfExclusion',
      'createdAt',
      ['id', (row) => id(row.id)],
    ]
    return visit.show('case', {
      title: player.name,
      about: display.t('player'),
      list: undefined,
      next: undefined,
      facts: factsOf(showPlayer.reply, player, shown),
      remark: undefined,
      people: [],
      decisions: undefined,
      lost: undefined,
      history: player.changes.map(({ at, actor, field, from, to, reason }) => ({
        at,
        who: actor === player.operatorId ? operator : actor,
        what: display.word('field', field),
        from,
        to,
        reason,
      })),
      sections: [money.section, withdrawals, deposits].filter((section) => section !== undefined),
    })
  })
}

interface Section {
  readonly title: string
  readonly rows: readonly { readonly href?: string; readonly cells: ReturnType<typeof factsOf> }[]
}

/** Some may see players and not their money. */
async function moneyOf(
  { person, display }: Visit,
  player: Player,
): Promise<{ readonly facts: readonly Shown<Player>[]; readonly section: Section | undefined }> {
  if (!person.mayCall(listEntries)) return { facts: [], section: undefined }
  const { available, withdrawable, data } = await person.call(listEntries, { playerId: player.id, limit: rowsMax })
  const shown: readonly Shown<Entry>[] = ['createdAt', 'type', 'amount', 'balanceAfter', 'reason']
  const amount = (value: string) => text(display.money(value, player.currency))
  return {
    facts: [
      ['available', () => amount(available)],
      ['withdrawable', () => amount(withdrawable)],
    ],
    section: {
      title: 'balance',
      rows: data.map((row) => ({ cells: factsOf(rowSchema(listEntries.reply), row, shown) })),
    },
  }
}

async function depositsOf({ person }: Visit, { id: playerId, brandId }: Player): Promise<Section | undefined> {
  if (!person.mayCall(listDeposits)) return undefined
  const { data } = await person.call(listDeposits, { brandId, playerId, limit: rowsMax })
  const shown: readonly Shown<Deposit>[] = ['createdAt', 'amount', 'status', 'method', 'externalReference']
  return {
    title: 'deposits',
    rows: data.map((row) => ({ cells: factsOf(rowSchema(listDeposits.reply), row, shown) })),
  }
}

async function withdrawalsOf({ person, address }: Visit, { id: playerId }: Player): Promise<Section | undefined> {
  if (!person.mayCall(listWithdrawals)) return undefined
  const { data } = await person.call(listWithdrawals, { playerId, limit: rowsMax })
  const shown: readonly Shown<Withdrawal>[] = ['createdAt', 'amount', 'status', 'destination', 'approvedBy', 'reason']
  return {
    title: 'withdrawals',
    rows: data.map((row) => ({
      href: address(`/withdrawals/${row.id}`),
      cells: factsOf(rowSchema(listWithdrawals.reply), row, shown),
    })),
  }
}
