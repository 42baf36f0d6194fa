import type { Clock, Db, Logger } from '@backoffice/service-runtime/standalone'
import type { Thumbnails } from './thumbnails.ts'

export interface GamesContext {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
  readonly thumbnails: Thumbnails
}
