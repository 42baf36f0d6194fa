import { setTimeout as wait } from 'node:timers/promises'
import { operations, ReconciliationReport, RecordedRestore, type Reply } from '@backoffice/contracts'
import { lists, type Subjects } from '@backoffice/team-rows'
import type { FastifyReply } from 'fastify'
import { factsOf, id, lines, link, type Row, rowsOf, rowWith, status, text } from '../pieces/cells.ts'
import { sendEvents } from '../pieces/counts.ts'
import { listRows } from '../pieces/list-page.ts'
import { subjectsOf } from '../pieces/open-proposals.ts'
import { beforeOf, type Section, showCase, showLists, showNotYours } from '../pieces/queue.ts'
import { type Decision, type Pages, pageWithForms, type SentForm, type Visit } from '../pieces/visit.ts'
import { placeOf } from './search.ts'

const { listReconciliations, reconcileWallet } = operations.reconciler

type Run = Reply<typeof listReconciliations>['data'][number]
type Followed = Reply<typeof reconcileWallet>

/** A quick run looks at what is new since the run before, a full one at all that was ever entered. */
const verbs = ['quick', 'full'] as const
type Verb = (typeof verbs)[number]
const isVerb = (name: string): name is Verb => verbs.some((verb) => verb === name)

/** Whether the ledger agrees with what it follows from: runs, the progress of one, and what it found. */
export const reconcilePages: Pages = (route, context) => {
  pageWithForms(route, '/reconcile', {
    find: () => undefined,
    pathOf: () => '/reconcile',
    show: (visit, _found, sent) => showRuns(visit, sent),
    decisionOf: (visit, _found, name) => (isVerb(name) ? decisionOf(visit, name) : undefined),
  })
  route.get('/reconcile/:runId', showRun)
  route.get('/reconcile/:runId/live', (visit) => sendEvents(visit, context, (signal) => progressOf(visit, signal)))
}

const pathOf = (runId: string): string => `/reconcile/${runId}`

/** The run that began last, for the start page. Undefined where nobody ran one, or this person may not know. */
export async function latestRun({ person }: Visit): Promise<Run | undefined> {
  if (!person.mayCall(listReconciliations)) return undefined
  const { data } = await person.call(listReconciliations, { limit: 1 })
  return data[0]
}

async function showRuns(visit: Visit, sent?: SentForm): Promise<FastifyReply> {
  const { display, person, query } = visit
  const list = { title: 'reconcile', path: '/reconcile' } as const
  if (!person.mayCall(listReconciliations)) return showNotYours(visit, list, listReconciliations)
  const { data, nextCursor } = await person.call(listReconciliations, {
    limit: display.rowsEach,
    ...beforeOf(query.after),
  })
  const rows = listRows(visit, lists.reconciliations, data, {
    result: (run) => resultCell(visit, run),
    startedBy: ({ startedBy }) => text(startedBy === 'schedule' ? display.t('bySchedule') : startedBy),
  })
  return showLists(visit, {
    ...list,
    remark: display.t('reconcileWhat'),
    decisions: verbs.map((verb) => decisionOf(visit, verb)),
    sent,
    sections: [{ title: 'runs', rows }],
    nextCursor,
  })
}

/** What became of a run, as far as this environment goes. */
function resultCell({ display, environment }: Visit, { state, differencesIn }: Run) {
  if (differencesIn === null) return status(state)
  const count = differencesIn[environment]
  return count === 0 ? status('agrees') : lines(status('differs'), text(display.t('differencesCount', { count })))
}

const decisionOf = ({ display }: Visit, verb: Verb): Decision => ({
  name: verb,
  label: verb,
  operation: reconcileWallet,
  fixed: { full: verb === 'full' },
  only: [],
  ask: display.t(`${verb}Ask`),
  done: display.t('runBegun'),
  tone: verb === 'quick' ? 'good' : 'plain',
  leadsTo: (reply) => pathOf((reply as Followed).runId),
})

const findRun = ({ person, params }: Visit): Promise<Followed> =>
  person.call(reconcileWallet, { runId: params.runId ?? '' })

async function showRun(visit: Visit): Promise<FastifyReply> {
  const { address, display, environment } = visit
  const { runId, state, progress, report, failure } = await findRun(visit)
  const path = pathOf(runId)
  const count = report === null ? 0 : report.differencesIn[environment]
  return showCase(visit, {
    path,
    title: report === null ? display.t('run') : display.time(report.snapshotAt),
    about: display.t('reconcile'),
    list: address('/reconcile'),
    ...(state === 'running' ? { progress: { ...progress, live: address(`${path}/live`), page: address(path) } } : {}),
    verdict: verdictOf(visit, report, count),
    facts: [
      { field: 'state', cell: status(state) },
      ...(failure === null ? [] : [{ field: 'failure', cell: text(display.sentence(failure)) }]),
      ...(report === null ? [] : reportFacts(visit, report)),
      { field: 'id', cell: id(runId) },
    ],
    sections: report === null ? [] : await reportSections(visit, report, report.differencesTotal - count),
  })
}

/** What was found, and what was compared. What there seldom is stands there only when there is some. */
async function reportSections(
  visit: Visit,
  report: ReconciliationReport,
  elsewhere: number,
): Promise<readonly Section[]> {
  const { display, environment } = visit
  const { checks, differences, inFlight, restores } = report
  const ownDifferences = differences.filter((one) => one.environment === environment)
  const subjects = await subjectsOf(
    visit,
    ownDifferences.map(({ subject }) => ({ input: null, subject })),
  )
  const restored = rowsOf(RecordedRestore, restores, [
    'restoredTo',
    'recordedAt',
    'recordedBy',
    'reason',
    'exportsSilenced',
  ])
  const checkRows = checks.map(({ check, compared, differences: count }) =>
    rowWith({ check: text(display.word('check', check)), compared: text(compared), differences: text(count) }),
  )
  const inFlightRows = inFlight.map(({ service, name, subject, ageSeconds }) =>
    rowWith({
      command: lines(text(name), text(display.word('service', service))),
      subject: id(subject),
      seconds: text(ageSeconds),
    }),
  )
  return [
    {
      title: 'differences',
      remark: elsewhere > 0 ? display.t('differencesElsewhere', { count: elsewhere }) : undefined,
      rows: ownDifferences.map((difference) => differenceRow(visit, difference, subjects)),
    },
    ...unlessEmpty({ title: 'restores', remark: display.t('restoresWhat'), rows: restored }),
    { title: 'checks', rows: checkRows },
    ...unlessEmpty({ title: 'inFlight', remark: display.t('inFlightWhat'), rows: inFlightRows }),
  ]
}

const unlessEmpty = (section: Section): readonly Section[] => (section.rows.length === 0 ? [] : [section])

/** In one sentence, before the tables. */
function verdictOf({ display, environment }: Visit, report: ReconciliationReport | null, count: number) {
  if (report === null) return undefined
  if (count === 0) return { kind: 'done' as const, text: display.t('agrees') }
  const isBlind = report.differencesOf.every(
    (one) => one.environment !== environment || one.class === 'evidence_missing',
  )
  return { kind: 'refused' as const, text: display.t(isBlind ? 'evidenceMissing' : 'differs', { count }) }
}

const reportFacts = ({ display }: Visit, report: ReconciliationReport) => {
  const compared = report.checks.reduce((sum, check) => sum + check.compared, 0)
  const shown = text(compared.toLocaleString(display.language))
  return factsOf(ReconciliationReport, report, ['kind', 'snapshotAt', 'provenSince', ['compared', () => shown]])
}

function differenceRow(
  { address, display }: Visit,
  difference: ReconciliationReport['differences'][number],
  subjects: Subjects,
): Row {
  const { check, class: says, subject, expected, actual, explanation } = difference
  const place = placeOf(subject)
  const name = subjects.of({ input: null, subject }).nameOf?.(subject)
  const record = place === undefined ? text(subject) : link(subject, address(place))
  return rowWith({
    check: lines(text(display.word('check', check)), text(display.word('value', says))),
    subject: lines(text(name), record),
    expected: text(expected),
    actual: text(actual),
    explanation: text(display.sentence(explanation)),
  })
}

const everyMs = 1_000

/** How far a run has come, until it ends. */
async function* progressOf(visit: Visit, signal: AbortSignal): AsyncGenerator<string> {
  while (!signal.aborted) {
    const { state, progress } = await findRun(visit)
    if (state !== 'running') {
      yield 'event: ended\ndata: {}\n\n'
      return
    }
    const name = visit.display.word('check', progress.check)
    yield `event: progress\ndata: ${JSON.stringify({ ...progress, name })}\n\n`
    await wait(everyMs, undefined, { signal }).catch(() => {})
  }
}
