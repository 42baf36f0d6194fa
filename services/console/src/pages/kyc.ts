import {
  caseTakenMinutes,
  choicesOf,
  type Input,
  type KycDecision,
  operations,
  Rejection,
  type Reply,
  seenOfSubmission,
  valueSchema,
} from '@backoffice/contracts'
import { dayMs } from '@backoffice/process'
import { lists } from '@backoffice/team-rows'
import type { FastifyReply } from 'fastify'
import {
  ago,
  factsOf,
  id,
  lines,
  link,
  linkElsewhere,
  nothing,
  rowsOf,
  status,
  text,
  unusual,
} from '../pieces/cells.ts'
import { ageAsked, withQuery } from '../pieces/filters.ts'
import { listRows } from '../pieces/list-page.ts'
import { operatorName } from '../pieces/listed.ts'
import { type Comparison, queueAsked, rowAfter, showCase, showList, wayOf } from '../pieces/queue.ts'
import { type Decision, type Pages, pageWithForms, rolesFor, type SentForm, type Visit } from '../pieces/visit.ts'
import type { Word } from '../words/index.ts'

const { kycQueue, countKycQueue, showPlayer, showDocumentUrl, decideKyc, takeKycCase, releaseKycCase } =
  operations.players

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

/** What reviewers would type again and again, for the operator to read. */
const readyReasons: Readonly<Record<Verb, readonly Word[]>> = {
  approve: ['kycAgrees'],
  ask: ['kycUnopened', 'kycUnreadable', 'kycIncomplete', 'kycExpired'],
  reject: ['kycDiffers', 'kycOthers', 'kycAltered', 'kycMinor'],
}

/** Whose a case is. Taking it over is another form than taking it: a form never does more than it said. */
const holdingVerbs = ['take', 'takeOver', 'release'] as const
type HoldingVerb = (typeof holdingVerbs)[number]
const isHoldingVerb = (name: string): name is HoldingVerb => holdingVerbs.some((verb) => verb === name)

export const kycPages: Pages = (route) => {
  route.get('/kyc', showQueue)
  route.get('/kyc/next', goToNext)
  pageWithForms(route, '/kyc/:playerId', {
    find: ({ person, params }) => person.call(showPlayer, { playerId: params.playerId ?? '' }),
    pathOf: ({ id: playerId }, visit) => pathOf(visit, playerId),
    environmentOf: ({ environment }) => environment,
    show: (visit, player, sent) => showPage(visit, player, { sent }),
    decisionOf: (visit, player, name) => {
      if (name === 'compare') return comparisonAsked(visit, player)
      if (isVerb(name)) return decisionOf(visit, player, name)
      return isHoldingVerb(name) ? holdingOf(visit, player, name) : undefined
    },
  })
}

const pathOf = (visit: Visit, playerId: string): string => withQuery(`/kyc/${playerId}`, wayOf(visit))
const listOf = (visit: Visit): string => visit.address(withQuery('/kyc', wayOf(visit, ['age', 'order'])))

/** Past those that others have taken. */
async function goToNext(visit: Visit): Promise<FastifyReply> {
  const { query, address, reply } = visit
  const isHere = ({ playerId }: { readonly playerId: string }) => playerId === query.not
  const next = rowAfter((await readQueue(visit)).data, isHere, (row) => !isOthers(visit, row))
  return reply.redirect(next === undefined ? listOf(visit) : address(pathOf(visit, next.playerId)), 303)
}

const orders = choicesOf(valueSchema(kycQueue.body.properties.order)) as readonly QueueOrder[]
type QueueOrder = NonNullable<Input<typeof kycQueue>['order']>

const readQueue = (visit: Visit) => visit.person.call(kycQueue, queueAsked(visit, orders))

async function showQueue(visit: Visit): Promise<FastifyReply> {
  const age = ageAsked(visit)
  const [{ data, nextCursor }, counted] = await Promise.all([
    readQueue(visit),
    visit.person.call(countKycQueue, { environment: visit.environment }),
  ])
  const opens = ({ playerId }: (typeof data)[number]) => pathOf(visit, playerId)
  const rows = listRows(visit, { ...lists.identities, opens }, data, {
    waitingSince: ({ waitingSince }) => ago(waitingSince),
    documentOf: ({ latestDocumentType, latestReference, documentUrl }) =>
      lines(
        text(latestDocumentType),
        linkElsewhere(latestReference, documentUrl ?? ''),
        documentUrl === null && mayOpen(visit) ? status('documentUnseen') : nothing,
      ),
    taken: (row) => takenCell(visit, row),
    kycStatus: ({ kycStatus }) => unusual(kycStatus, 'em_analise'),
  })
  return showList(visit, {
    title: 'kyc',
    empty: 'noneWaits',
    rows,
    path: age === undefined ? '/kyc' : withQuery('/kyc', age.query),
    remark: age?.remark,
    nextCursor,
    orders,
    total: age === undefined ? counted.data[0]?.waiting : undefined,
  })
}

interface ShownCase {
  readonly sent?: SentForm | undefined
  /** The player with nothing masked. What nobody compares is not shown of it. */
  readonly unmasked?: Player
}

async function showPage(visit: Visit, player: Player, { sent, unmasked }: ShownCase = {}): Promise<FastifyReply> {
  const { display, address } = visit
  const operator = await operatorName(visit, player.operatorId)
  const facts = factsOf(showPlayer.reply, player, [
    'kycStatus',
    'birthDate',
    'cpf',
    'email',
    'phone',
    ['playerStatus', ({ status: value }) => status(value)],
    ['operator', ({ operatorId }) => link(operator, address(`/operators/${operatorId}`))],
    'externalId',
    'createdAt',
    'kycDecidedAt',
    'kycReason',
    ['player', ({ id: playerId }) => link(display.t('playerOpen'), address(`/players/${playerId}`))],
    ['id', (row) => id(row.id)],
  ])
  const documents = rowsOf(showPlayer.reply.properties.submissions.items, player.submissions, [
    'submittedAt',
    'documentType',
    ['reference', ({ reference, documentUrl }) => linkElsewhere(reference, documentUrl ?? '')],
  ])
  return showCase(visit, {
    path: pathOf(visit, player.id),
    document: documentOf(visit, player),
    unseen: unseenOf(visit, player),
    comparison: comparisonOf(visit, player, unmasked),
    title: player.name,
    about: display.t('kyc'),
    list: listOf(visit),
    next: address(withQuery(`/kyc/next?not=${player.id}`, wayOf(visit))),
    facts,
    people: peopleOf(visit, player),
    decisions: formsOf(visit, player),
    sent,
    history: player.changes
      .filter(({ field }) => field === 'kycStatus')
      .map(({ actor, ...change }) => ({ ...change, who: actor === player.operatorId ? operator : actor })),
    sections: [{ title: 'documents', rows: documents }],
  })
}

/** Taking a case comes first, giving it back last. */
function formsOf(visit: Visit, player: Player): readonly Decision[] {
  // Where nothing was submitted, there is nothing to work on.
  if (player.submissions.length === 0) return []
  const holding = player.taken == null ? 'take' : isOwn(visit, player) ? 'release' : 'takeOver'
  // Nobody decides what the person's status is already.
  const decided = verbNames.filter((verb) => verbs[verb].status !== player.kycStatus)
  const forms = decided.map((verb) => decisionOf(visit, player, verb))
  const held = holdingOf(visit, player, holding)
  return holding === 'release' ? [...forms, held] : [held, ...forms]
}

/** Whose server shows the document, and whether that is new: whoever changes the address decides what a reviewer sees. */
function documentOf({ now }: Visit, { documentSourceChangedAt: at, submissions: [latest] }: Player) {
  if (latest?.documentUrl == null) return undefined
  const { documentUrl: href, reference } = latest
  const isMoved = at !== null && now.getTime() - Date.parse(at) < dayMs
  return { href, reference, host: new URL(href).host, isMoved }
}

/** Who may not open documents is not told where they do. */
const mayOpen = ({ person }: Visit): boolean => person.mayCall(showDocumentUrl)

const isUnseen = ({ submissions: [latest] }: Player): boolean => latest !== undefined && latest.documentUrl == null

/** What stands where nothing can be looked at: why, and what to do about it. */
function unseenOf(visit: Visit, player: Player) {
  const { display, address } = visit
  const [latest] = player.submissions
  if (latest === undefined || !isUnseen(player)) return undefined
  const { reference } = latest
  if (!mayOpen(visit))
    return { reference, why: display.t('documentNotYours', { roles: rolesFor(visit, showDocumentUrl) }) }
  return { reference, why: display.t('documentNowhere'), href: address(`/operators/${player.operatorId}`) }
}

/** What a document says too, and how it is written there. */
const compared = {
  name: ({ name }) => name,
  cpf: ({ cpf }) => cpf.replace(/^(\d{3})(\d{3})(\d{3})(\d{2})$/, '$1.$2.$3-$4'),
  birthDate: ({ birthDate }) => birthDate?.split('-').reverse().join('/') ?? '',
} satisfies Record<string, (player: Player) => string>

/** Compliance compares while it has the case. */
function comparisonOf(visit: Visit, player: Player, unmasked: Player | undefined): Comparison | undefined {
  const { display, person, now } = visit
  if (player.submissions.length === 0 || !person.mayCall(decideKyc)) return undefined
  const outcomeOf = (field: string, outcome: 'fieldMatches' | 'fieldDiffers') => ({
    label: display.t(outcome),
    says: display.t(`${outcome}Says`, { field: display.word('field', field) }),
  })
  const lines = Object.entries(compared).map(([field, textOf]) => ({
    field,
    text: unmasked === undefined ? '' : textOf(unmasked),
    outcomes: [outcomeOf(field, 'fieldMatches'), outcomeOf(field, 'fieldDiffers')],
  }))
  return {
    decision: compareOf(visit, player),
    lines: lines.filter(({ text }) => text !== ''),
    lastsMs: Date.parse(player.taken?.until ?? '') - now.getTime(),
  }
}

/** No service knows that a read belongs to a case. */
function comparisonAsked(visit: Visit, player: Player): Decision {
  if (isOthers(visit, player)) throw new Rejection('KYC_TAKEN')
  if (!isOwn(visit, player)) throw new Rejection('NOT_AS_SEEN')
  return compareOf(visit, player)
}

function compareOf(visit: Visit, player: Player): Decision {
  const { display } = visit
  // In one language, so that auditors find them all.
  const reason = `identity check ${player.submissions[0]?.id}`
  return {
    name: 'compare',
    label: 'compare',
    operation: showPlayer,
    fixed: { playerId: player.id, unmask: true, reason },
    ask: display.t('compareAsk', { reason }),
    key: 'c',
    part: 'comparison',
    unless: isOwn(visit, player) ? undefined : display.t('compareFirst'),
    shows: (reply) => showPage(visit, player, { unmasked: reply as Player }),
  }
}

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

function holdingOf({ display }: Visit, player: Player, verb: HoldingVerb): Decision {
  const { id: playerId, name, taken } = player
  const words = { player: `“${name}”`, name: taken?.by ?? '', minutes: caseTakenMinutes }
  const isTakenOver = verb === 'takeOver'
  return {
    name: verb,
    label: verb,
    operation: verb === 'release' ? releaseKycCase : takeKycCase,
    fixed: { playerId, ...(isTakenOver ? { takeOver: true } : {}) },
    only: isTakenOver ? ['reason'] : [],
    ask: display.t(`${verb}Ask`, words),
    done: display.t(`${verb}Done`, { player: name }),
    key: verb === 'release' ? 'g' : 't',
  }
}

function decisionOf(visit: Visit, player: Player, verb: Verb): Decision {
  const { display } = visit
  const { ask, key, label, status, tone } = verbs[verb]
  const [submission] = player.submissions
  return {
    name: verb,
    label,
    operation: decideKyc,
    fixed: {
      ...{ playerId: player.id, submission: submission?.id ?? null, status },
      seen: submission === undefined ? null : seenOfSubmission({ player, submission }),
    },
    required: ['reason', 'restsOn'],
    // Nobody approves what nobody has looked at.
    only: verb === 'approve' && isUnseen(player) ? ['reason', 'restsOn'] : ['reason'],
    ready: {
      reason: readyReasons[verb].map((word) => display.t(word)),
      restsOn: (['restsOnOperator', 'restsOnCall', 'restsOnRegistry'] as const).map((word) => display.t(word)),
    },
    ask: display.t(ask, { player: `“${player.name}”` }),
    done: display.t('kycDone', { player: player.name, status: display.word('value', status) }),
    tone,
    key,
    unless: isOthers(visit, player) ? display.t('takenFirst', { name: player.taken?.by ?? '' }) : undefined,
  }
}
