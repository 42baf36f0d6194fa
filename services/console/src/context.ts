import type { Clock, Logger } from '@backoffice/process'
import type { RecordedCalls, TeamVerifier } from '@backoffice/team-access/identity'
import type { NatsConnection } from '@nats-io/transport-node'
import type { Provider } from './identity/provider.ts'
import type { ConsoleSettings } from './settings.ts'

export interface ConsoleContext {
  readonly config: ConsoleSettings
  readonly clock: Clock
  readonly log: Logger
  readonly nats: NatsConnection
  readonly verifier: TeamVerifier
  /** Verifies what others of the team have signed. */
  readonly recorded: RecordedCalls
  readonly provider: Provider
  /** Aborted when the program is told to stop. */
  readonly stopping: AbortSignal
}
