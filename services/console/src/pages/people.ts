import {
  allOperations,
  type Operation,
  operations,
  serviceNames,
  type TeamRole,
  teamRoles,
} from '@backoffice/contracts'
import { dayMs } from '@backoffice/process'
import { identityOf } from '@backoffice/team-access/identity'
import { membersIn } from '@backoffice/team-rows'
import type { FastifyReply } from 'fastify'
import { askEach } from '../identity/person.ts'
import { lines, type Row, rowWith, status, text, time, words } from '../pieces/cells.ts'
import { showLists } from '../pieces/queue.ts'
import { inParts } from '../pieces/rest.ts'
import { type Decision, type Pages, pageWithForms, type SentForm, type Visit } from '../pieces/visit.ts'

const { listLockedMembers, listSessions, lockTeamMember, unlockTeamMember } = operations.gateway

/** How far back the list of who was here goes. */
const latelyDays = 30

const ofTeam = allOperations.filter(({ audience }) => audience === 'team')

/**
 * Who may do what. Nothing is changed here: people and their groups are the identity provider's matter, and what a role
 * may do stands in the table of operations, which the services go by.
 */
export const peoplePages: Pages = (route, { config }) => {
  const { rolesOfGroup, machines } = identityOf(config)
  pageWithForms(route, '/people', {
    find: () => undefined,
    pathOf: () => '/people',
    show: (visit, _found, sent) => showPeople(visit, sent),
    decisionOf: (visit, _found, name) => lockDecisions(visit).find((decision) => decision.name === name),
  })

  async function showPeople(visit: Visit, sent?: SentForm): Promise<FastifyReply> {
    const { display, person, query, address } = visit
    const role = teamRoles.find((known) => known === query.role) ?? [...person.roles][0] ?? 'auditor'
    const mayLock = person.mayCall(lockTeamMember)
    const lately = person.mayCall(listSessions) ? await whoWasHere(inParts(visit)) : undefined
    const holders = [
      ...[...rolesOfGroup].map(([name, roles]) => holderRow(name, 'group', roles)),
      ...[...machines.values()].map(({ name, roles }) => holderRow(name, 'machine', roles)),
    ]
    const members = (lately?.members ?? []).map(({ name, id: account, kind, latestSessionAt }) => ({
      ...rowWith({
        name: text(name),
        account: text(account),
        holder: status(kind),
        latestSession: time(latestSessionAt),
      }),
      ...(mayLock && account !== null ? { href: `${address('/people')}?member=${encodeURIComponent(account)}` } : {}),
    }))
    const locked = mayLock ? (await person.call(listLockedMembers, {})).data : []
    return showLists(visit, {
      title: 'people',
      path: '/people',
      remark: display.t('peopleWhat', { claim: config.TEAM_GROUPS_CLAIM }),
      missing: lately?.missing,
      decisions: mayLock ? lockDecisions(visit) : [],
      sent,
      sections: [
        { title: 'groups', rows: holders },
        ...(locked.length === 0
          ? []
          : [{ title: 'locked' as const, rows: locked.map(({ member }) => rowWith({ account: text(member) })) }]),
        ...(lately === undefined ? [] : [{ title: 'lately' as const, rows: members }]),
        {
          title: 'mayDo',
          tabs: teamRoles.map((known) => ({
            label: `role.${known}` as const,
            href: `${address('/people')}?role=${known}#mayDo`,
            current: known === role,
          })),
          remark: display.t(`for.${role}`),
          rows: abilitiesOf(role).map((ability) => abilityRow(visit, ability)),
        },
      ],
    })
  }
}

/** Whom a row of the list was opened for is filled in. */
const lockDecisions = ({ display, query }: Visit): readonly Decision[] =>
  (
    [
      [lockTeamMember, 'lock', 'bad'],
      [unlockTeamMember, 'unlock', 'plain'],
    ] as const
  ).map(([operation, name, tone]) => ({
    name,
    operation,
    fixed: {},
    initial: { member: query.member ?? '' },
    ask: display.t(`${name}Ask`),
    tone,
  }))

const holderRow = (name: string, kind: string, roles: readonly TeamRole[]): Row =>
  rowWith({ name: text(name), holder: status(kind), roles: words(...roles.map(status)) })

/** An operation that a role may call. One that several services have is one line. */
interface Ability {
  readonly operation: Operation
  readonly services: readonly string[]
}

/** What a role may change, and then what it may read. */
function abilitiesOf(role: TeamRole): readonly Ability[] {
  const theirs = Map.groupBy(
    ofTeam.filter(({ roles }) => roles?.includes(role)),
    ({ id: name }) => name,
  )
  return [...theirs.values()]
    .flatMap((same): readonly Ability[] =>
      same.slice(0, 1).map((operation) => ({ operation, services: same.map(({ service }) => service) })),
    )
    .sort((a, b) => Number(changes(b.operation)) - Number(changes(a.operation)))
}

const changes = ({ kind }: Operation): boolean => kind !== 'query'

function abilityRow({ display }: Visit, { operation, services }: Ability): Row {
  const { freshLogin, id: name, summary, twoPeople } = operation
  const known = display.word('operation', name)
  return rowWith({
    operation: lines(text(known === name ? summary : known), text(name)),
    does: status(changes(operation) ? 'changes' : 'reads'),
    service: text(services.map((service) => display.word('service', service)).join(', ')),
    freshLogin: conditionCell(display, freshLogin),
    twoPeople: conditionCell(display, twoPeople),
  })
}

/** Always, in production, or with what is given. */
function conditionCell(display: Visit['display'], condition: Operation['twoPeople']) {
  if (condition === undefined) return text(null)
  if (condition === 'always') return text(display.t('always'))
  if (condition === 'in production') return text(display.t('inProduction'))
  const values = Object.entries(condition.when).map(
    ([field, value]) => `${display.word('field', field)}: ${display.word('value', String(value), field)}`,
  )
  return text(values.join(', '))
}

/** Each service knows the sessions that have called it: of all of them, everybody with their latest. */
async function whoWasHere({ person, now }: Visit) {
  const since = new Date(now.getTime() - latelyDays * dayMs).toISOString()
  const { replies, missing } = await askEach(serviceNames, (service) =>
    person.call(operations[service].listSessions, { since }),
  )
  return { members: membersIn(replies), missing }
}
