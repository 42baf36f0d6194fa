import { setTimeout as wait } from 'node:timers/promises'
import { operations, ReconciliationReport, RecordedRestore, Rejection, type Reply } from '@backoffice/contracts'
import type { FastifyReply } from 'fastify'
import { factsOf, id, lines, link, type Row, rowSchema, type ShownColumn, status, text } from '../pieces/cells.ts'
import { notYours } from '../pieces/counts.ts'
import { beforeOf, rowsOnPage, showCase, showLists } from '../pieces/queue.ts'
import { type Decision, decide, type Pages, type SentForm, shownDecision, type Visit } from '../pieces/visit.ts'
import { sendEvents } from './live.ts'
import { placeOf } from './search.ts'

const { listReconciliations, reconcileWallet } = operations.reconciler

type Run = Reply<typeof listReconciliations>['data'][number]
type Followed = Reply<typeof reconcileWallet>

/** A quick run looks at what is new since the run before, a full one at all that was ever entered. */
const verbs = ['quick', 'full'] as const
type Verb = (typeof verbs)[number]
const isVerb = (name: string | undefined): name is Verb => verbs.some((verb) => verb === name)

/** Whether the ledger agrees with what it follows from: runs, the progress of one, and what it found. */
export const reconcilePages: Pages = (route, context) => {
  route.get('/reconcile', (visit) => showRuns(visit))
  route.post('/reconcile/:verb', (visit) => {
    const { verb } = visit.params
    if (!isVerb(verb)) throw new Rejection('NOT_FOUND')
    return decide(visit, decisionOf(visit, verb), '/reconcile', (sent) => showRuns(visit, sent))
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
  const { address, display, person, query } = visit
  const list = { title: 'reconcile' as const, path: '/reconcile' }
  if (!person.mayCall(listReconciliations))
    return showLists(visit, { ...list, ...notYours(visit, listReconciliations) })
  const { data, nextCursor } = await person.call(listReconciliations, { limit: rowsOnPage, ...beforeOf(query.after) })
  const columns: readonly ShownColumn<Run>[] = [
    'startedAt',
    ['result', (run) => resultCell(visit, run)],
    'kind',
    ['startedBy', ({ startedBy }) => text(startedBy === 'schedule' ? display.t('bySchedule') : startedBy)],
    'endedAt',
  ]
  return showLists(visit, {
    ...list,
    remark: display.t('reconcileWhat'),
    decisions: verbs.map((verb) => shownDecision(visit, decisionOf(visit, verb), '/reconcile', sent)),
    sections: [
      {
        title: 'runs',
        rows: data.map((run) => ({
          href: address(pathOf(run.runId)),
          cells: factsOf(rowSchema(listReconciliations.reply), run, columns),
        })),
      },
    ],
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
  const found = (report?.differences ?? []).filter((one) => one.environment === environment)
  const count = report === null ? 0 : report.differencesIn[environment]
  const elsewhere = (report?.differencesTotal ?? 0) - count
  return showCase(visit, {
    title: report === null ? display.t('run') : display.time(report.snapshotAt),
    about: display.t('reconcile'),
    list: address('/reconcile'),
    ...(state === 'running'
      ? { progress: { ...progress, live: address(`${pathOf(runId)}/live`), page: address(pathOf(runId)) } }
      : {}),
    verdict: verdictOf(visit, report, count),
    facts: [
      { field: 'state', cell: status(state) },
      ...(failure === null ? [] : [{ field: 'failure', cell: text(display.sentence(failure)) }]),
      ...(report === null ? [] : reportFacts(visit, report)),
      { field: 'id', cell: id(runId) },
    ],
    sections:
      report === null
        ? []
        : [
            {
              title: 'differences',
              remark: elsewhere > 0 ? display.t('differencesElsewhere', { count: elsewhere }) : undefined,
              rows: found.map((difference) => differenceRow(visit, difference)),
            },
            ...(report.restores.length === 0
              ? []
              : [
                  {
                    title: 'restores' as const,
                    remark: display.t('restoresWhat'),
                    rows: report.restores.map((one) => ({
                      cells: factsOf(RecordedRestore, one, [
                        'restoredTo',
                        'recordedAt',
                        'recordedBy',
                        'reason',
                        'exportsSilenced',
                      ]),
                    })),
                  },
                ]),
            { title: 'checks', rows: report.checks.map((check) => checkRow(visit, check)) },
            ...(report.inFlight.length === 0
              ? []
              : [
                  {
                    title: 'inFlight' as const,
                    remark: display.t('inFlightWhat'),
                    rows: report.inFlight.map(inFlightRow),
                  },
                ]),
          ],
  })
}

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
  const shown: readonly ShownColumn<ReconciliationReport>[] = [
    'kind',
    'snapshotAt',
    'fullAt',
    [
      'compared',
      ({ checks }) => text(checks.reduce((sum, { compared }) => sum + compared, 0).toLocaleString(display.language)),
    ],
  ]
  return factsOf(ReconciliationReport, report, shown)
}

function differenceRow({ address, display }: Visit, difference: ReconciliationReport['differences'][number]): Row {
  const { check, class: says, subject, expected, actual, explanation } = difference
  const place = placeOf(subject)
  return {
    cells: [
      { field: 'check', cell: lines(text(display.word('check', check)), text(display.word('value', says))) },
      { field: 'subject', cell: place === undefined ? text(subject) : link(subject, address(place)) },
      { field: 'expected', cell: text(expected) },
      { field: 'actual', cell: text(actual) },
      { field: 'explanation', cell: text(display.sentence(explanation)) },
    ],
  }
}

const checkRow = (visit: Visit, { check, compared, differences }: ReconciliationReport['checks'][number]): Row => ({
  cells: [
    { field: 'check', cell: text(visit.display.word('check', check)) },
    { field: 'compared', cell: text(compared) },
    { field: 'differences', cell: text(differences) },
  ],
})

const inFlightRow = ({ service, name, subject, ageSeconds }: ReconciliationReport['inFlight'][number]): Row => ({
  cells: [
    { field: 'command', cell: lines(text(name), text(service)) },
    { field: 'subject', cell: id(subject) },
    { field: 'seconds', cell: text(ageSeconds) },
  ],
})

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
