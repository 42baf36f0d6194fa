import { caseTakenMinutes, type KycDecision, operations, Rejection, type Reply } from '@backoffice/contracts'
import type { FastifyReply } from 'fastify'
import {
  ago,
  factsOf,
  id,
  lines,
  link,
  linkElsewhere,
  nothing,
  rowSchema,
  type ShownColumn,
  text,
} from '../pieces/cells.ts'
import { dayMs } from '../pieces/filters.ts'
import { operatorName } from '../pieces/listed.ts'
import { afterOf, rowAfter, rowsOnPage, showCase, showList } from '../pieces/queue.ts'
import { type Decision, decide, type Pages, type SentForm, shownDecision, type Visit } from '../pieces/visit.ts'

const { kycQueue, showPlayer, decideKyc, takeKycCase, releaseKycCase } = operations.players

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

/** Whose a case is. Taking it over is another form than taking it: a form never does more than it said. */
const holdingVerbs = ['take', 'takeOver', 'release'] as const
type HoldingVerb = (typeof holdingVerbs)[number]
const isHoldingVerb = (name: string): name is HoldingVerb => holdingVerbs.some((verb) => verb === name)

export const kycPages: Pages = (route) => {
  route.get('/kyc', showQueue)
  route.get('/kyc/next', goToNext)
  route.get('/kyc/:playerId', (visit) => showPage(visit))
  route.post('/kyc/:playerId/:verb', async (visit) => {
    const { verb = '' } = visit.params
    if (!isVerb(verb) && !isHoldingVerb(verb)) throw new Rejection('NOT_FOUND')
    const player = await findPlayer(visit)
    const decision = isVerb(verb) ? decisionOf(visit, player, verb) : holdingOf(visit, player, verb)
    return decide(visit, decision, pathOf(player.id), (sent) => showPage(visit, sent))
  })
}

const pathOf = (playerId: string): string => `/kyc/${playerId}`
const findPlayer = ({ person, params }: Visit): Promise<Player> =>
  person.call(showPlayer, { playerId: params.playerId ?? '' })

/** Past those that others have taken. */
async function goToNext(visit: Visit): Promise<FastifyReply> {
  const { query, address, reply } = visit
  const { data } = await readQueue(visit, undefined)
  const next = rowAfter(
    data,
    ({ playerId }) => playerId === query.not,
    (row) => !isOthers(visit, row),
  )
  return reply.redirect(address(next === undefined ? '/kyc' : pathOf(next.playerId)), 303)
}

const readQueue = ({ person, environment }: Visit, after: string | undefined) =>
  person.call(kycQueue, { environment, limit: rowsOnPage, ...afterOf(after) })

async function showQueue(visit: Visit): Promise<FastifyReply> {
  const { query } = visit
  const { data, nextCursor } = await readQueue(visit, query.after)
  const columns: readonly ShownColumn<Waiting>[] = [
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
    ['taken', (row) => takenCell(visit, row)],
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

async function showPage(visit: Visit, sent?: SentForm): Promise<FastifyReply> {
  const { display, environment } = visit
  const player = await findPlayer(visit)
  const path = pathOf(player.id)
  if (player.environment !== environment) return visit.reply.redirect(`/${player.environment}${path}`, 303)
  const operator = await operatorName(visit, player.operatorId)
  const holding = holdingFor(visit, player)
  const decided = decisionsFor(player).map((verb) => decisionOf(visit, player, verb))
  const held = holding === undefined ? [] : [holdingOf(visit, player, holding)]
  const forms = holding === 'release' ? [...decided, ...held] : [...held, ...decided]
  const decisions = forms.map((form) => shownDecision(visit, form, path, sent))
  const shown: readonly ShownColumn<Player>[] = [
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
  const documents: readonly ShownColumn<Player['submissions'][number]>[] = [
    'submittedAt',
    'documentType',
    ['reference', ({ reference, documentUrl }) => linkElsewhere(reference, documentUrl ?? '')],
  ]
  const [latest] = player.submissions
  const href = latest?.documentUrl
  return showCase(visit, {
    document: latest === undefined || href == null ? undefined : documentOf(visit, player, href, latest.reference),
    title: player.name,
    about: display.t('kyc'),
    list: visit.address('/kyc'),
    next: visit.address(`/kyc/next?not=${player.id}`),
    facts: factsOf(showPlayer.reply, player, shown),
    people: peopleOf(visit, player),
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

/** Whose server shows the document, and whether that is new: whoever changes the address decides what a reviewer sees. */
const documentOf = ({ now }: Visit, { documentSourceChangedAt: at }: Player, href: string, reference: string) => ({
  href,
  reference,
  host: new URL(href).host,
  isMoved: at !== null && now.getTime() - Date.parse(at) < dayMs,
})

/** Nobody decides what the person's status is already. */
const decisionsFor = ({ kycStatus, submissions }: Player): readonly Verb[] =>
  submissions.length === 0 ? [] : verbNames.filter((verb) => verbs[verb].status !== kycStatus)

type Held = Pick<Player, 'taken'>
const isOwn = ({ person }: Visit, { taken }: Held): boolean => taken?.by === person.name
const isOthers = (visit: Visit, held: Held): boolean => held.taken != null && !isOwn(visit, held)

const takenCell = (visit: Visit, held: Held) =>
  held.taken == null
    ? nothing
    : lines(text(isOwn(visit, held) ? visit.display.t('you') : held.taken.by), ago(held.taken.at))

/** Who works on it, before anybody decides. */
function peopleOf(visit: Visit, held: Held): readonly string[] {
  const { display } = visit
  if (held.taken == null) return []
  const words = { name: held.taken.by, time: display.time(held.taken.until) }
  return [display.t(isOwn(visit, held) ? 'takenByYou' : 'takenByOther', words)]
}

/** Where nothing was submitted, there is nothing to work on. */
function holdingFor(visit: Visit, player: Player): HoldingVerb | undefined {
  if (player.submissions.length === 0) return undefined
  if (player.taken == null) return 'take'
  return isOwn(visit, player) ? 'release' : 'takeOver'
}

function holdingOf({ display }: Visit, player: Player, verb: HoldingVerb): Decision {
  const { id: playerId, name, taken } = player
  const words = { player: `“${name}”`, name: taken?.by ?? '–', minutes: caseTakenMinutes }
  const isTakenOver = verb === 'takeOver'
  return {
    name: verb,
    label: verb,
    operation: verb === 'release' ? releaseKycCase : takeKycCase,
    fixed: { playerId, ...(isTakenOver ? { takeOver: true } : {}) },
    only: isTakenOver ? ['reason'] : [],
    ask: display.t(`${verb}Ask`, words),
    done: display.t(`${verb}Done`, { player: name }),
    tone: 'plain',
    key: verb === 'release' ? 'g' : 't',
  }
}

function decisionOf(visit: Visit, player: Player, verb: Verb): Decision {
  const { display } = visit
  const { ask, key, label, status, tone } = verbs[verb]
  return {
    name: verb,
    label,
    operation: decideKyc,
    fixed: { playerId: player.id, submission: player.submissions[0]?.id ?? null, status },
    required: ['reason'],
    ask: display.t(ask, { player: `“${player.name}”` }),
    done: display.t('kycDone', { player: player.name, status: display.word('value', status) }),
    tone,
    key,
    unless: isOthers(visit, player) ? display.t('takenFirst', { name: player.taken?.by ?? '' }) : undefined,
  }
}
