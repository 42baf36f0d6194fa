import type { Migration } from '@backoffice/service-runtime/migrations'

/** The queue of one environment: what waits in the sandbox, for ever perhaps, is not read for that of production. */
export const kycQueueOfEnvironment: Migration = {
  name: '0008_kyc_queue_of_environment',
  transactional: false,
  sql: `create index concurrently player_kyc_queue_of_environment on players.player (environment, id)
    where kyc_status in ('pendente', 'em_analise')`,
}
