import { type KycDecision, operations, Rejection, type Reply } from '@backoffice/contracts'
import type { FastifyReply } from 'fastify'
import { showCase } from './case.ts'
import { ago, factsOf, id, lines, link, linkElsewhere, rowSchema, type Shown, text } from './cells.ts'
import { operatorName } from './operator-name.ts'
import { afterOf, rowsOnPage, showList } from './queue.ts'
import type { Pages } from './route.ts'
import { type Decision, decide, type Sent, shownDecision, type Visit } from './visit.ts'

const { kycQueue, showPlayer, decideKyc } = operations.players

type Waiting = Reply<typeof kycQueue>['data'][number]
type Player = Reply<typeof showPlayer>

/** What a reviewer decides, as the forms call it. */
const verbs = {
  approve: { status: 'aprovado', label: 'kycApprove', ask: 'kycApproveAsk', tone: 'good', key: 'a' },
  ask: { status: 'documento_solicitado', label: 'kycAsk', ask: 'kycAskAsk', tone: 'plain', key: 'd' },
  reject: { status: 'reprovado', label: 'kycReject', ask: 'kycRejectAsk', tone: 'bad', key: 'r' },
} as const satisfies Record<string, { readonly status: KycDecision } & Record<string, string>>
type Verb = keyof typeof verbs
const verbNames = Object.keys(verbs) as readonly Verb[]
const isVerb = (name: string): name is Verb => Object.hasOwn(verbs, name)

export const kycPages: Pages = (route) => {
  route.get('/kyc', showQueue)
  route.get('/kyc/next', goToNext)
  route.get('/kyc/:playerId', (visit) => showPage(visit))
  route.post('/kyc/:playerId/:verb', async (visit) => {
    const { verb = '' } = visit.params
    if (!isVerb(verb)) throw new Rejection('NOT_FOUND')
    const player = await findPlayer(visit)
    return decide(visit, decisionOf(visit, player, verb), pathOf(player.id), (sent) => showPage(visit, sent))
  })
}

const pathOf = (playerId: string): string => `/kyc/${playerId}`
const findPlayer = ({ person, params }: Visit): Promise<Player> =>
  person.call(showPlayer, { playerId: params.playerId ?? '' })

/** The one who waits longest, besides the one that somebody comes from. */
async function goToNext(visit: Visit): Promise<FastifyReply> {
  const { query, address, reply } = visit
  const { data } = await readQueue(visit, undefined)
  const next = data.find((row) => row.playerId !== query.not)
  return reply.redirect(address(next === undefined ? '/kyc' : pathOf(next.playerId)), 303)
}

const readQueue = ({ person, environment }: Visit, after: string | undefined) =>
  person.call(kycQueue, { environment, limit: rowsOnPage, ...afterOf(after) })

async function showQueue(visit: Visit): Promise<FastifyReply> {
  const { query } = visit
  const { data, nextCursor } = await readQueue(visit, query.after)
  const columns: readonly Shown<Waiting>[] = [
    ['waitingSince', ({ waitingSince }) => ago(waitingSince)],
    ['operator', ({ operatorId, operatorName }) => text(operatorName ?? operatorId)],
    ['player', ({ name, playerId }) => lines(text(name), id(playerId))],
    [
      'documentOf',
      ({ latestDocumentType, latestReference, documentUrl }) =>
        lines(text(latestDocumentType), linkElsewhere(latestReference, documentUrl ?? '')),
    ],
    'submissions',
    'kycStatus',
  ]
  return showList(visit, {
    title: 'kyc',
    empty: 'noneWaits',
    rows: data.map((row) => ({
      href: visit.address(pathOf(row.playerId)),
      cells: factsOf(rowSchema(kycQueue.reply), row, columns),
    })),
    path: '/kyc',
    nextCursor,
  })
}

async function showPage(visit: Visit, sent?: Sent): Promise<FastifyReply> {
  const { display, environment } = visit
  const player = await findPlayer(visit)
  const path = pathOf(player.id)
  if (player.environment !== environment) return visit.reply.redirect(`/${player.environment}${path}`, 303)
  const operator = await operatorName(visit, player.operatorId)
  const decisions = decisionsFor(player).map((verb) =>
    shownDecision(visit, decisionOf(visit, player, verb), path, sent),
  )
  const shown: readonly Shown<Player>[] = [
    'kycStatus',
    'birthDate',
    'cpf',
    'email',
    'phone',
    ['playerStatus', ({ status: value }) => ({ kind: 'status', text: value })],
    ['operator', ({ operatorId }) => link(operator, visit.address(`/operators/${operatorId}`))],
    'externalId',
    'createdAt',
    'kycDecidedAt',
    'kycReason',
    [
      'player',
      ({ id: playerId }) => lines(link(display.t('playerOpen'), visit.address(`/players/${playerId}`)), id(playerId)),
    ],
  ]
  const documents: readonly Shown<Player['submissions'][number]>[] = [
    'submittedAt',
    'documentType',
    ['reference', ({ reference, documentUrl }) => linkElsewhere(reference, documentUrl ?? '')],
  ]
  return showCase(visit, {
    title: player.name,
    about: display.t('kyc'),
    list: visit.address('/kyc'),
    next: visit.address(`/kyc/next?not=${player.id}`),
    facts: factsOf(showPlayer.reply, player, shown),
    decisions,
    sent,
    history: player.changes
      .filter(({ field }) => field === 'kycStatus')
      .map(({ at, actor, from, to, reason }) => ({
        at,
        who: actor === player.operatorId ? operator : actor,
        from,
        to,
        reason,
      })),
    sections: [
      {
        title: 'documents',
        rows: player.submissions.map((row) => ({
          cells: factsOf(showPlayer.reply.properties.submissions.items, row, documents),
        })),
      },
    ],
  })
}

/** Nobody decides what the person's status is already. */
const decisionsFor = ({ kycStatus, submissions }: Player): readonly Verb[] =>
  submissions.length === 0 ? [] : verbNames.filter((verb) => verbs[verb].status !== kycStatus)

function decisionOf({ display }: Visit, player: Player, verb: Verb): Decision {
  const { ask, key, label, status, tone } = verbs[verb]
  return {
    name: verb,
    label,
    operation: decideKyc,
    fixed: { playerId: player.id, status },
    required: ['reason'],
    ask: display.t(ask, { player: `“${player.name}”` }),
    done: display.t('kycDone', { player: player.name, status: display.word('value', status) }),
    tone,
    key,
  }
}
