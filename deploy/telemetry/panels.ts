import { operations, runtimeOperationIds } from '@backoffice/contracts'

/** One panel of the dashboard. */
export interface Panel {
  readonly title: string
  readonly says: string
  readonly unit: string
  /** Queries by the legend of what they find. */
  readonly asks: Readonly<Record<string, string>>
  readonly as: 'timeseries' | 'stat' | 'heatmap'
  /** Of 24. */
  readonly width: number
  /** Colours, each with the value from which it is shown. */
  readonly bounds?: Readonly<Record<string, number | null>>
  /** Undefined: below zero too. */
  readonly min: number | undefined
  readonly max?: number
  readonly isStacked?: boolean
}

export function panel(
  title: string,
  says: string,
  unit: string,
  asks: Panel['asks'],
  more: Partial<Panel> = {},
): Panel {
  return { title, says, unit, asks, as: 'timeseries', width: 8, min: 0, ...more }
}

/** A refused credit moves nothing, and a restore that is recorded neither. */
const postNothing = new Set<string>(['openAccount', 'refuseCredit', 'recordRestore', ...runtimeOperationIds])
const postings = Object.values(operations.wallet)
  .flatMap(({ kind, id }) => (kind === 'direct' && !postNothing.has(id) ? [id] : []))
  .join('|')

/** The dashboard, row by row. Panels stand beside each other as far as there is room. */
export const rows: Readonly<Record<string, readonly Panel[]>> = {
  'Traffic and errors': [
    panel(
      'Requests by operation',
      'Answered per second, whatever the answer was.',
      'reqps',
      {
        '{{operation}}':
          'sum by (operation) (rate(backoffice_request_duration_seconds_count{environment=~"$environment"}[$__rate_interval]))',
      },
      { isStacked: true },
    ),
    panel(
      'Refusals and failures by code',
      "Every answer that is not a success, per second. 5xx are ours; most others are the operator's.",
      'reqps',
      {
        '{{code}}':
          'sum by (code) (rate(backoffice_request_duration_seconds_count{environment=~"$environment", code!="ok"}[$__rate_interval]))',
      },
    ),
    panel(
      'Share of requests that failed',
      '5xx over all. The line is where RequestsFailing pages.',
      'percentunit',
      {
        '{{environment}}, 5 minutes': 'environment:requests_failed_ratio:rate5m{environment=~"$environment"}',
        '{{environment}}, 1 hour': 'environment:requests_failed_ratio:rate1h{environment=~"$environment"}',
        '{{environment}}, 6 hours': 'environment:requests_failed_ratio:rate6h{environment=~"$environment"}',
      },
      { bounds: { green: null, red: 0.05 } },
    ),
    panel('Failures by operation', '5xx per second.', 'reqps', {
      '{{operation}} {{code}}':
        'sum by (operation, code) (rate(backoffice_request_duration_seconds_count{environment=~"$environment", code=~"INTERNAL_ERROR|PROVIDER_UNAVAILABLE|SERVICE_UNAVAILABLE"}[$__rate_interval]))',
    }),
    panel(
      'Error budget left of 30 days',
      '1 is untouched, below 0 the objective of 99.9 % is missed.',
      'percentunit',
      {
        '{{environment}}':
          '1 - ((sum by (environment) (increase(backoffice_request_duration_seconds_count{environment=~"$environment", code=~"INTERNAL_ERROR|PROVIDER_UNAVAILABLE|SERVICE_UNAVAILABLE"}[30d])) or 0 * sum by (environment) (increase(backoffice_request_duration_seconds_count{environment=~"$environment"}[30d]))) / (sum by (environment) (increase(backoffice_request_duration_seconds_count{environment=~"$environment"}[30d])) > 0)) / 0.001',
      },
      { as: 'stat', width: 4, bounds: { red: null, orange: 0, green: 0.25 }, min: undefined },
    ),
    panel(
      'Replicas that answer',
      'By service. Fewer than two is no reserve.',
      'short',
      { '{{job}}': 'job:up:count' },
      { as: 'stat', width: 4, bounds: { red: null, orange: 1, green: 2 } },
    ),
    panel('Requests by environment', 'Answered per second.', 'reqps', {
      '{{environment}}': 'sum by (environment) (rate(backoffice_request_duration_seconds_count[$__rate_interval]))',
    }),
  ],
  Latency: [
    panel('All requests', 'From the arrival of the headers at the gateway to the answer.', 's', {
      p50: 'histogram_quantile(0.5, sum by (le) (rate(backoffice_request_duration_seconds_bucket{environment=~"$environment"}[$__rate_interval])))',
      p95: 'histogram_quantile(0.95, sum by (le) (rate(backoffice_request_duration_seconds_bucket{environment=~"$environment"}[$__rate_interval])))',
      p99: 'histogram_quantile(0.99, sum by (le) (rate(backoffice_request_duration_seconds_bucket{environment=~"$environment"}[$__rate_interval])))',
    }),
    panel(
      'p99 by operation',
      'The line is where RequestsSlow pages.',
      's',
      {
        '{{operation}}, {{environment}}':
          'environment_operation:request_duration_seconds:p99_5m{environment=~"$environment"}',
      },
      { bounds: { green: null, red: 1 } },
    ),
    panel('p99 by service', 'Time to answer over NATS, in the service.', 's', {
      '{{service}}':
        'histogram_quantile(0.99, sum by (service, le) (rate(backoffice_rpc_duration_seconds_bucket{environment=~"$environment|none"}[$__rate_interval])))',
    }),
    panel(
      'Distribution',
      'How many requests took how long.',
      'short',
      {
        '{{le}}':
          'sum by (le) (increase(backoffice_request_duration_seconds_bucket{environment=~"$environment"}[$__rate_interval]))',
      },
      { as: 'heatmap', width: 12 },
    ),
    panel(
      'Slowest operations of the services',
      'p99 over NATS, the ten slowest.',
      's',
      {
        '{{service}}.{{operation}}':
          'topk(10, histogram_quantile(0.99, sum by (service, operation, le) (rate(backoffice_rpc_duration_seconds_bucket[$__rate_interval]))))',
      },
      { width: 12 },
    ),
  ],
  Money: [
    panel('Deposits and withdrawals', 'What operators asked for and got, per second.', 'reqps', {
      '{{operation}}':
        'sum by (operation) (rate(backoffice_request_duration_seconds_count{environment=~"$environment", operation=~"createDeposit|confirmDeposit|failDeposit|requestWithdrawal|cancelWithdrawal|decideWithdrawalInSandbox", code="ok"}[$__rate_interval]))',
    }),
    panel('Refused deposits and withdrawals', 'By code, per second.', 'reqps', {
      '{{operation}} {{code}}':
        'sum by (operation, code) (rate(backoffice_request_duration_seconds_count{environment=~"$environment", operation=~"createDeposit|confirmDeposit|failDeposit|requestWithdrawal|cancelWithdrawal|decideWithdrawalInSandbox", code!="ok"}[$__rate_interval]))',
    }),
    panel(
      'Oldest unfinished money operation',
      'MoneyOperationUnfinished pages at 5 minutes.',
      's',
      { oldest: 'max(backoffice_money_operations_oldest_unfinished_seconds)' },
      { bounds: { green: null, red: 300 } },
    ),
    panel(
      'Postings in the wallet',
      'Credits, holds and their ends, per second.',
      'ops',
      {
        '{{operation}} {{code}}': `sum by (operation, code) (rate(backoffice_rpc_duration_seconds_count{service="wallet", operation=~"${postings}"}[$__rate_interval]))`,
      },
      { width: 12 },
    ),
    panel(
      'Decisions of the team and the sandbox',
      'Withdrawals approved, rejected, paid or failed, per second.',
      'ops',
      {
        '{{operation}} {{code}}':
          'sum by (operation, code) (rate(backoffice_rpc_duration_seconds_count{service="payments", operation=~"decideWithdrawal|decideWithdrawalInSandbox"}[$__rate_interval]))',
      },
      { width: 12 },
    ),
  ],
  'Idempotency and rate limits': [
    panel(
      'Replays by operation',
      'Retries that got the answer of the first request, per second. Many of them: an operator does not hear our answers.',
      'reqps',
      { '{{operation}}': 'sum by (operation) (rate(backoffice_idempotency_replays_total[$__rate_interval]))' },
    ),
    panel('Keys in conflict or in use', 'Per second.', 'reqps', {
      '{{code}}':
        'sum by (code) (rate(backoffice_request_duration_seconds_count{environment=~"$environment", code=~"IDEMPOTENCY_CONFLICT|IDEMPOTENCY_IN_PROGRESS|IDEMPOTENCY_KEY_REQUIRED"}[$__rate_interval]))',
    }),
    panel('Rate limited and refused at the door', 'Too many, or not who they say they are, per second.', 'reqps', {
      '{{code}}':
        'sum by (code) (rate(backoffice_request_duration_seconds_count{code=~"RATE_LIMITED|INVALID_CREDENTIALS|INVALID_SIGNATURE|TIMESTAMP_OUT_OF_RANGE|FORBIDDEN_IP"}[$__rate_interval]))',
    }),
  ],
  'Outbox and events': [
    panel(
      'Oldest row that was not sent',
      'CommandsStuck pages at 1 minute, EventsStuck at 2.',
      's',
      { '{{service}} {{kind}}': 'max by (service, kind) (backoffice_outbox_oldest_unsent_seconds)' },
      { bounds: { green: null, orange: 60, red: 120 } },
    ),
    panel('Rows that wait', 'Commands and events by service.', 'short', {
      '{{service}} {{kind}}': 'max by (service, kind) (backoffice_outbox_unsent_rows)',
    }),
    panel('Messages set aside', 'In the last hour, by consumer.', 'short', {
      '{{consumer}}': 'sum by (consumer) (increase(backoffice_messages_set_aside_total[1h]))',
    }),
  ],
  Webhooks: [
    panel('Attempts by outcome', 'Per second.', 'ops', {
      '{{outcome}}': 'sum by (outcome) (rate(backoffice_delivery_attempt_duration_seconds_count[$__rate_interval]))',
    }),
    panel('Duration of an attempt', 'By outcome.', 's', {
      'p50 {{outcome}}':
        'histogram_quantile(0.5, sum by (outcome, le) (rate(backoffice_delivery_attempt_duration_seconds_bucket[$__rate_interval])))',
      'p99 {{outcome}}':
        'histogram_quantile(0.99, sum by (outcome, le) (rate(backoffice_delivery_attempt_duration_seconds_bucket[$__rate_interval])))',
    }),
    panel(
      'Oldest delivery that is due',
      'DeliveriesLate pages at 5 minutes.',
      's',
      {
        '{{environment}}':
          'max by (environment) (backoffice_deliveries_oldest_due_seconds{environment=~"$environment"})',
      },
      { bounds: { green: null, red: 300 } },
    ),
    panel(
      'Deliveries that wait',
      'Due now, or scheduled for a later attempt.',
      'short',
      {
        '{{state}}':
          'sum by (state) (max by (environment, state) (backoffice_deliveries_waiting{environment=~"$environment"}))',
      },
      { width: 12 },
    ),
    panel(
      'Endpoints by breaker',
      'ReceiversFailing pages when more than half are not closed.',
      'short',
      {
        '{{breaker}}':
          'sum by (breaker) (max by (environment, breaker) (backoffice_webhook_endpoints{environment=~"$environment"}))',
      },
      { width: 12, isStacked: true },
    ),
  ],
  Ledger: [
    panel(
      'Differences',
      'Of the last reconciliation that finished. Anything but 0 pages at once.',
      'short',
      { '{{class}}': 'max by (class) (backoffice_ledger_differences)' },
      { as: 'stat', width: 6, bounds: { green: null, red: 1 } },
    ),
    panel(
      'Age of the last reconciliation',
      'ReconciliationOld after 3 hours.',
      's',
      { age: 'min(backoffice_ledger_reconciliation_age_seconds)' },
      { as: 'stat', width: 6, bounds: { green: null, orange: 10800 } },
    ),
    panel(
      'Operations of the wallet by outcome',
      'Per second.',
      'ops',
      { '{{code}}': 'sum by (code) (rate(backoffice_rpc_duration_seconds_count{service="wallet"}[$__rate_interval]))' },
      { width: 12 },
    ),
  ],
  'Game provider': [
    panel(
      'Breaker',
      '1 is open: the provider is not called.',
      'short',
      { open: 'max(backoffice_provider_breaker_open)' },
      { as: 'stat', width: 6, bounds: { green: null, red: 1 } },
    ),
    panel(
      'Game sessions by outcome',
      'Per second.',
      'ops',
      {
        '{{code}}':
          'sum by (code) (rate(backoffice_rpc_duration_seconds_count{service="players", operation="openGameSession"}[$__rate_interval]))',
      },
      { width: 9 },
    ),
    panel(
      'Requests of the public games by status',
      'Per second.',
      'ops',
      { '{{status}}': 'sum by (status) (rate(backoffice_games_request_duration_seconds_count[$__rate_interval]))' },
      { width: 9 },
    ),
  ],
  'The team': [
    panel(
      'Requests of the console by status',
      'Per second. Pages, and calls of the command line.',
      'ops',
      { '{{status}}': 'sum by (status) (rate(backoffice_console_request_duration_seconds_count[$__rate_interval]))' },
      { width: 12 },
    ),
    panel(
      'Refused calls of the team',
      'Per second, by code, and for whoever was not known by the reason.',
      'ops',
      { '{{code}} {{reason}}': 'sum by (code, reason) (rate(backoffice_team_refused_calls_total[$__rate_interval]))' },
      { width: 12 },
    ),
  ],
}
