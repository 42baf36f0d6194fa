import { defined, fromMinorUnits, operations, type Reply, seenOf, toMinorUnits } from '@backoffice/contracts'
import { lists, nameOf as nameIn, type Subject, type Subjects } from '@backoffice/team-rows'
import type { FastifyReply } from 'fastify'
import {
  type Cell,
  type Fact,
  factsOf,
  id,
  lines,
  link,
  money,
  nothing,
  rowSchema,
  status,
  text,
} from '../pieces/cells.ts'
import { listRows } from '../pieces/list-page.ts'
import {
  amountOf,
  type FoundProposal,
  findDecided,
  findProposal,
  findProposals,
  isOwn,
  movedBy,
  sentenceOf,
  subjectsOf,
  waitsFor,
} from '../pieces/open-proposals.ts'
import { secretsIn } from '../pieces/operator-actions.ts'
import { beforeOf, showCase, showLists } from '../pieces/queue.ts'
import { inParts } from '../pieces/rest.ts'
import { type Decision, type Pages, pageWithForms, rolesFor, type SentForm, type Visit } from '../pieces/visit.ts'
import type { Word } from '../words/index.ts'
import { placeOf } from './search.ts'

const { listProposals } = operations.gateway
const { showPlayer } = operations.players
const { listEntries } = operations.wallet

type Verb = 'approve' | 'decline' | 'collect'

/** What takes two people. In the sandbox that is so for giving up a credit alone, which is shown with those of production. */
export const proposalPages: Pages = (route) => {
  route.get('/proposals', showProposals)
  pageWithForms(route, '/proposals/:proposalId', {
    find: findOne,
    pathOf,
    environmentOf: () => 'production',
    show: showPage,
    decisionOf: (visit, proposal, name) =>
      name === 'approve' || name === 'decline' || name === 'collect' ? decisionOf(visit, proposal, name) : undefined,
  })
}

/** As one page shows it. */
interface ShownProposal extends FoundProposal {
  /** Why nobody can tell that it is what its proposer signed. Null when it is. */
  readonly fault: string | null
  /** With names, as they are now. */
  readonly sentence: string
  readonly player: Reply<typeof showPlayer> | undefined
  readonly names: Subject
}

const pathOf = (proposal: Pick<FoundProposal, 'id'>): string => `/proposals/${proposal.id}`

async function findOne(visit: Visit): Promise<ShownProposal> {
  const { person, params, recorded, display } = visit
  const proposal = await findProposal(person, params.proposalId ?? '')
  const { call } = proposal
  const subjects = await subjectsOf(visit, [proposal])
  // Whoever answered is not believed: it must be what the proposer signed.
  const fault = call === undefined ? null : await recorded.faultOfProposal(call, proposal)
  const names = subjects.of(proposal)
  const player = names.playerId === undefined ? undefined : await findPlayer(visit, names.playerId)
  return { ...proposal, fault, player, names, sentence: sentenceOf(display, proposal, names) }
}

async function showProposals(whole: Visit): Promise<FastifyReply> {
  const visit = inParts(whole)
  const { display, environment, person, address, query } = visit
  const isOpen = query.state !== 'decided'
  const frame = {
    title: 'proposals' as const,
    path: isOpen ? '/proposals' : '/proposals?state=decided',
    tabs: [
      { label: 'openProposals' as const, href: address('/proposals'), current: isOpen },
      { label: 'decidedProposals' as const, href: address('/proposals?state=decided'), current: !isOpen },
    ],
  }
  if (environment === 'sandbox') return showLists(visit, { ...frame, remark: display.t('oneIsEnough') })
  const { proposals, nextCursor, missing } = isOpen
    ? await findProposals(person, { state: 'open', limit: display.rowsEach, ...beforeOf(query.after) })
    : await findDecided(person, query.after, display.rowsEach)
  const subjects = await subjectsOf(visit, proposals)
  const section = (title: Word, those: readonly FoundProposal[]) => ({
    title,
    rows: proposalRows(visit, those, { isOpen, subjects }),
  })
  const others = proposals.filter((one) => !isOwn(person, one) && !waitsFor(person, one))
  const waiting = proposals.filter((one) => waitsFor(person, one))
  const own = proposals.filter((one) => isOwn(person, one))
  const sections = isOpen
    ? [section('waitForMe', waiting), section('mine', own), section('waitForOthers', others)].slice(
        0,
        others.length > 0 ? 3 : 2,
      )
    : [section('decidedProposals', proposals)]
  return showLists(visit, { ...frame, missing, sections, nextCursor })
}

interface Listed {
  readonly isOpen: boolean
  readonly subjects: Subjects
}

function proposalRows(visit: Visit, proposals: readonly FoundProposal[], { isOpen, subjects }: Listed) {
  const without: readonly string[] = isOpen ? ['state', 'decidedBy', 'decidedAt'] : ['expiresAt']
  const kept = lists.proposals.columns.filter((one) => !without.includes(nameIn(one)))
  // What is about money is told from what is about a key or an address at a glance.
  const columns = kept.flatMap((one) =>
    nameIn(one) === 'proposal' ? [noted('concerns'), one, noted('amount')] : [one],
  )
  return listRows(visit, { ...lists.proposals, columns }, proposals, {
    concerns: ({ service }) => status(`concerns.${service}`),
    amount: (row) => {
      const { amount, currency } = amountOf(row, subjects.of(row)) ?? {}
      return amount === undefined || currency === undefined ? nothing : money(amount, currency)
    },
    proposal: (row) => text(sentenceOf(visit.display, row, subjects.of(row))),
  })
}

/** A column that `listRows` is given the cells of. */
const noted = (name: string) => [name, () => null] as const

/** What is proposed, in a few words. */
const nameOf = ({ display }: Visit, { operation, call }: FoundProposal): string => {
  const known = display.word('operation', operation)
  return known === operation ? (call?.summary ?? operation) : known
}

type Given = Readonly<Record<string, unknown>>

/** What was given with the call, and what its proposer had before them. */
function inputOf(visit: Visit, { call, input, names }: ShownProposal): readonly Fact[] {
  const { seen = {}, ...given } = (input ?? {}) as Given & { readonly seen?: Given }
  const before = factsOf(call?.body.properties.seen ?? listProposals.reply, seen, Object.keys(seen))
  const facts = factsOf(call?.body ?? listProposals.reply, given, Object.keys(given))
  const labels = before.map(({ field, cell }) => {
    const { currency = names.currency } = seen
    const isAmount =
      ['amount', 'staked', 'won', 'maxWin'].includes(field) && 'text' in cell && typeof currency === 'string'
    const value = 'text' in cell ? cell.text : ''
    const name = names.nameOf?.(value)
    const shown = isAmount ? text(visit.display.money(value, currency)) : name === undefined ? cell : text(name)
    const label = labelOf(visit, field, shown)
    const place = placeOf(value)
    return place === undefined ? text(label) : link(label, visit.address(place))
  })
  return labels.length === 0 ? facts : [...facts, { field: 'seen', cell: lines(...labels) }]
}

function labelOf({ display }: Visit, field: string, cell: Cell): string {
  const wordsOf = (one: Cell): string => {
    if ('lines' in one) return one.lines.map(wordsOf).join(', ')
    if (!('text' in one)) return display.none(field)
    return one.kind === 'status' ? display.word('value', one.text, field) : one.text
  }
  return `${display.word('field', field)}: ${wordsOf(cell)}`
}

/** For so long, and some hours more, services keep what the proposer is shown. */
const keptHours = 48

function verbsOf({ person, display }: Visit, proposal: ShownProposal): readonly Verb[] {
  const { state, call, decidedAt } = proposal
  if (state === 'open') return isOwn(person, proposal) ? ['decline'] : ['approve', 'decline']
  if (state !== 'approved' || decidedAt === null || call === undefined || !isOwn(person, proposal)) return []
  return secretsIn(call) !== undefined && display.hoursSince(decidedAt) < keptHours ? ['collect'] : []
}

async function showPage(visit: Visit, proposal: ShownProposal, sent?: SentForm): Promise<FastifyReply> {
  const { display } = visit
  const verbs = verbsOf(visit, proposal)
  const facts = factsOf(rowSchema(listProposals.reply), proposal, [
    'state',
    'proposedBy',
    'proposedAt',
    'expiresAt',
    'reason',
    ...(proposal.state === 'open' ? [] : (['decidedBy', 'decidedAt', 'decisionReason'] as const)),
    ['id', (row) => id(row.id)],
  ])
  return showCase(visit, {
    path: pathOf(proposal),
    title: nameOf(visit, proposal),
    about: display.t('proposals'),
    list: visit.address('/proposals'),
    facts: [{ field: 'proposal', cell: text(proposal.sentence) }, ...(await subjectFacts(visit, proposal)), ...facts],
    people: peopleOf(visit, proposal),
    decisions: verbs.map((verb) => decisionOf(visit, proposal, verb)),
    sent,
  })
}

/** What was given with the call, with the names of whom it is about, and what it would make of a balance. */
async function subjectFacts(visit: Visit, proposal: ShownProposal): Promise<readonly Fact[]> {
  const { player, names } = proposal
  // A correction of the wallet is in the player's currency: the signed one, where its proposer saw one.
  const currency = names.currency ?? player?.currency
  const facts = inputOf(visit, proposal).map(({ field, cell }) => {
    const value = 'text' in cell ? cell.text : ''
    if (field === 'playerId') return { field: 'player', cell: linkedName(visit, player?.name ?? names.player, value) }
    if (field === 'providerId' || field === 'brandId')
      return { field, cell: linkedName(visit, names.nameOf?.(value), value) }
    if (field === 'operatorId') return { field: 'operator', cell: linkedName(visit, names.operator, value) }
    if ((field === 'amount' || field === 'maxWin') && currency !== undefined)
      return { field, cell: money(value, currency) }
    return { field, cell }
  })
  return [...facts, ...(await balanceFacts(visit, proposal))]
}

/** The balance as it is now, and as it would be. */
async function balanceFacts({ person, display }: Visit, proposal: ShownProposal): Promise<readonly Fact[]> {
  const moved = movedBy(proposal)
  const { player, state } = proposal
  if (moved === undefined || player === undefined || state !== 'open' || !person.mayCall(listEntries)) return []
  const account = await person.call(listEntries, { playerId: player.id, limit: 1 }).catch(() => undefined)
  if (account === undefined) return []
  const after = fromMinorUnits(toMinorUnits(account.available) + toMinorUnits(moved))
  const change = [account.available, after].map((amount) => display.money(amount, player.currency)).join(' → ')
  return [{ field: 'available', cell: text(change) }]
}

/** Null while the service that knows the player does not answer. */
const findPlayer = ({ person }: Visit, playerId: string): Promise<Reply<typeof showPlayer> | undefined> =>
  person.call(showPlayer, { playerId }).catch(() => undefined)

function linkedName({ address }: Visit, name: string | undefined, value: string): Cell {
  const place = placeOf(value)
  return lines(place === undefined ? text(name ?? value) : link(name ?? value, address(place)), id(value))
}

/** Who was first, and who may be second, before anybody clicks. */
function peopleOf({ display, person }: Visit, proposal: ShownProposal): readonly string[] {
  const { state, proposedBy, proposedAt, call, fault } = proposal
  if (state !== 'open') return []
  const signed = display.t(fault === null ? 'proposalSigned' : 'proposalNotSigned', {
    name: proposedBy,
    why: fault ?? '',
  })
  if (isOwn(person, proposal)) return [display.t('ownProposal', { roles: rolesFor({ display }, call) }), signed]
  return [display.t('proposedByOther', { name: proposedBy, ago: display.ago(proposedAt) }), signed]
}

function decisionOf(visit: Visit, proposal: ShownProposal, verb: Verb): Decision {
  const { display, person } = visit
  const { call, id: proposalId, proposedBy, service, fault } = proposal
  const what = proposal.sentence
  // Whoever may make the call may decide about it.
  const roles = rolesFor(visit, call)
  const notTheirs = call !== undefined && person.mayCall(call) ? undefined : display.t('notYours', { roles })
  if (verb === 'decline' || call === undefined)
    return {
      name: 'decline',
      label: isOwn(person, proposal) ? 'takeBack' : 'decline',
      operation: operations[service].declineProposal,
      fixed: { proposalId, seen: seenOf(operations[service].declineProposal, proposal) },
      ask: display.t('declineAsk', { what }),
      done: display.t('declined', { what: nameOf(visit, proposal) }),
      tone: 'bad',
      key: 'r',
      unless: call === undefined ? display.t('unknownProposal') : notTheirs,
    }
  const input = proposal.input as Readonly<Record<string, unknown>>
  const secrets = secretsIn(call)
  if (verb === 'collect')
    return {
      name: 'collect',
      label: 'collect',
      operation: call,
      fixed: { ...input, ...defined({ reason: proposal.reason ?? undefined }) },
      only: [],
      operationId: proposal.operationId,
      ask: display.t('collectAsk', { name: proposal.decidedBy ?? '' }),
      done: nameOf(visit, proposal),
      tone: 'good',
      unless: notTheirs,
      secrets,
    }
  return {
    name: 'approve',
    label: 'approve',
    operation: call,
    // The same call as it was proposed, with a reason of one's own.
    fixed: input,
    only: ['reason'],
    approves: proposalId,
    ask: display.t('approveProposalAsk', { what, name: proposedBy }),
    done:
      secrets === undefined
        ? nameOf(visit, proposal)
        : display.t('proposerIsShown', { what: nameOf(visit, proposal), name: proposedBy }),
    tone: 'good',
    key: 'a',
    unless: fault === null ? notTheirs : display.t('proposalNotSigned', { name: proposedBy, why: fault }),
    // A service of the release before shows them to whoever agrees.
    secrets: (reply) => secrets?.(reply).filter(({ value }) => value !== null) ?? [],
  }
}
