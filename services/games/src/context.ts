import type { Statements } from '@backoffice/database'
import type { Clock, Logger } from '@backoffice/process'
import type { Thumbnails } from './thumbnails.ts'

export interface GamesContext {
  readonly db: Statements
  readonly clock: Clock
  readonly log: Logger
  readonly thumbnails: Thumbnails
}
