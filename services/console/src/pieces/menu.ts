import { type Operation, operations } from '@backoffice/contracts'
import type { Person } from '../identity/person.ts'
import type { Word } from '../words/index.ts'
import type { QueueName } from './counts.ts'
import { rolesFor, type Visit } from './visit.ts'

interface MenuItem {
  readonly path: string
  readonly word: Word
  /** The counts that stand beside it. */
  readonly counts?: readonly QueueName[]
  /** Whoever may call one of them sees the item; everybody when absent. */
  readonly needs?: readonly Operation[]
  /** Pages elsewhere that belong to it. */
  readonly also?: readonly string[]
}

const { listDeliveries, listSetAside } = operations.webhooks
const { exportStatement } = operations.wallet
const { reconcileWallet } = operations.reconciler

const items: readonly MenuItem[] = [
  { path: '', word: 'home' },
  {
    path: '/withdrawals',
    word: 'withdrawals',
    counts: ['toReview', 'toPay'],
    needs: [operations.payments.withdrawalQueue],
  },
  { path: '/kyc', word: 'kyc', counts: ['kyc'], needs: [operations.players.kycQueue] },
  { path: '/proposals', word: 'proposals', counts: ['proposals'] },
  { path: '/deposits', word: 'deposits', needs: [operations.payments.listDeposits] },
  { path: '/statement', word: 'statement', needs: [exportStatement] },
  { path: '/reconcile', word: 'reconcile', needs: [reconcileWallet] },
  { path: '/operators', word: 'operators' },
  {
    path: '/deliveries',
    word: 'deliveries',
    needs: [listDeliveries, listSetAside],
    also: ['/set-aside', '/endpoints'],
  },
  { path: '/audit', word: 'audit', needs: [operations.gateway.listAudit] },
  { path: '/people', word: 'people' },
]

/** What somebody finds in the menu: the pages that their roles show something on. */
export const menuFor = (person: Person): readonly MenuItem[] =>
  items.filter(({ needs }) => needs?.some((operation) => person.mayCall(operation)) ?? true)

/** What a list says to whoever came by a link and may not read it. */
export const notYours = (visit: Visit, operation: Operation) => ({
  remark: visit.display.t('notYours', { roles: rolesFor(visit, operation) }),
  sections: [],
})
