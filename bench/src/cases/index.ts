import type { Group } from '../case.ts'
import { blackHole } from './black-hole.ts'
import { claims } from './claims.ts'
import { deliveries } from './deliveries.ts'
import { memory } from './memory.ts'
import { pairs } from './pairs.ts'
import { postings } from './postings.ts'
import { me, wallet } from './reads.ts'
import { statement } from './statement.ts'

/** In the order in which they run. Groups that need a filled system are last, because it is started for them. */
export const groups: readonly Group[] = [memory, pairs, wallet, me, postings, deliveries, blackHole, statement, claims]
