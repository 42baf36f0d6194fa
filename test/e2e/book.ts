import { hourMs } from '@backoffice/process'
/**
 * What an operator would write down about its players: the rules of the API once more, in a few lines and in memory.
 * It shares no code with the services. Amounts are minor units, times are epoch milliseconds.
 */
export type Outcome = 'done' | string

export interface BookedPlayer {
  readonly id: string
  readonly externalId: string
  /** Whose player it is. */
  readonly cpf: string
  status: string
  kycStatus: string
  /** Null: never excluded. */
  exclusion: { readonly until: number | null } | null
  limit: bigint | null
  /** A higher limit, or none, that waits. */
  wish: { readonly limit: bigint | null; readonly from: number } | null
  /** Oldest first. */
  readonly entries: { readonly type: 'DEPOSIT' | 'WITHDRAWAL'; readonly amount: bigint; readonly cause: string }[]
  held: bigint
}

export interface BookedDeposit {
  readonly id: string
  readonly player: BookedPlayer
  readonly amount: bigint
  readonly reference: string
  readonly at: number
  status: 'pending' | 'confirmed' | 'failed'
}

export interface BookedWithdrawal {
  readonly id: string
  readonly player: BookedPlayer
  readonly amount: bigint
  status: 'under_review' | 'approved' | 'paid' | 'rejected' | 'cancelled' | 'failed'
  approvedBy: string | null
}

export type Decision = 'approve' | 'reject' | 'pay' | 'fail'
/** São Paulo is three hours behind UTC all year. */
const dayOf = (at: number) => Math.floor((at - 3 * hourMs) / (24 * hourMs))

export const posted = ({ entries }: BookedPlayer): bigint => entries.reduce((sum, { amount }) => sum + amount, 0n)
export const withdrawable = (player: BookedPlayer): bigint => posted(player) - player.held

/** In the sandbox: a deposit that is refused, and a withdrawal whose payment fails. */
export const blockedDeposit = 141_414n
export const failingWithdrawal = 1_313n

export class Book {
  readonly players: BookedPlayer[] = []
  readonly deposits: BookedDeposit[] = []
  readonly withdrawals: BookedWithdrawal[] = []
  readonly isSandbox: boolean

  constructor(isSandbox: boolean) {
    this.isSandbox = isSandbox
  }

  registered(id: string, externalId: string, cpf: string): void {
    const limits = { exclusion: null, limit: null, wish: null }
    this.players.push({
      id,
      externalId,
      cpf,
      status: 'ativo',
      kycStatus: 'nao_iniciado',
      ...limits,
      entries: [],
      held: 0n,
    })
  }

  /** What a decision about the identity check changes; a submission changes nothing once it is approved. */
  submitsDocuments(player: BookedPlayer): Outcome {
    if (player.kycStatus === 'aprovado') return 'KYC_ALREADY_APPROVED'
    player.kycStatus = 'em_analise'
    return 'done'
  }

  /** A self-exclusion is of the person, so it holds for every player with the CPF. */
  isExcluded({ cpf }: BookedPlayer, now: number): boolean {
    const own = this.players.filter((player) => player.cpf === cpf)
    return own.some((player) => player.status === 'autoexcluido' || this.#runs(player, now))
  }

  #runs({ exclusion }: BookedPlayer, now: number): boolean {
    return exclusion !== null && (exclusion.until === null || now < exclusion.until)
  }

  /** The status that everybody sees. */
  seen(player: BookedPlayer, now: number): string {
    return this.isExcluded(player, now) ? 'autoexcluido' : player.status
  }

  /** A running exclusion is made longer, never shorter. */
  excludes(player: BookedPlayer, until: number | null, now: number): Outcome {
    const end = this.#runs(player, now) ? (player.exclusion?.until ?? Number.POSITIVE_INFINITY) : now + 1
    if ((until ?? Number.POSITIVE_INFINITY) < end) return 'VALIDATION_ERROR'
    player.exclusion = { until }
    return 'done'
  }

  /** What one person of the team gets for it: in production two people end a self-exclusion. */
  setsStatusAlone(player: BookedPlayer, status: string): Outcome {
    const ends = player.status === 'autoexcluido' && status !== 'autoexcluido'
    return ends && !this.isSandbox ? 'AWAITS_APPROVAL' : 'done'
  }

  limitOf({ limit, wish }: BookedPlayer, now: number): bigint | null {
    return wish !== null && now >= wish.from ? wish.limit : limit
  }

  /** Lowering holds at once, raising or removing after 24 hours. */
  setsLimit(player: BookedPlayer, wished: bigint | null, now: number): void {
    const current = this.limitOf(player, now)
    const holdsAtOnce = current === null || (wished !== null && wished <= current)
    player.limit = holdsAtOnce ? wished : current
    player.wish = holdsAtOnce ? null : { limit: wished, from: now + 24 * hourMs }
  }

  /** Today's deposits, pending and confirmed. */
  dayTotal(player: BookedPlayer, now: number): bigint {
    const today = this.deposits.filter(
      (deposit) => deposit.player === player && deposit.status !== 'failed' && dayOf(deposit.at) === dayOf(now),
    )
    return today.reduce((sum, { amount }) => sum + amount, 0n)
  }

  admitsDeposit(
    player: BookedPlayer,
    { amount, currency, reference }: { readonly amount: bigint; readonly currency: string; readonly reference: string },
    now: number,
  ): Outcome {
    if (this.deposits.some((deposit) => deposit.reference === reference)) return 'DEPOSIT_ALREADY_EXISTS'
    if (currency !== 'BRL') return 'CURRENCY_MISMATCH'
    if (this.isExcluded(player, now) || (this.isSandbox && amount === blockedDeposit)) return 'RG_BLOCKED'
    if (player.status !== 'ativo') return 'PLAYER_NOT_ACTIVE'
    const limit = this.limitOf(player, now)
    return limit !== null && this.dayTotal(player, now) + amount > limit ? 'RG_BLOCKED' : 'done'
  }

  settles(deposit: BookedDeposit, command: 'confirm' | 'fail'): Outcome {
    if (deposit.status !== 'pending') return 'DEPOSIT_NOT_PENDING'
    const { player, amount, id } = deposit
    deposit.status = command === 'confirm' ? 'confirmed' : 'failed'
    if (command === 'confirm') player.entries.push({ type: 'DEPOSIT', amount, cause: id })
    return 'done'
  }

  admitsWithdrawal(player: BookedPlayer, amount: bigint, currency: string): Outcome {
    if (currency !== 'BRL') return 'CURRENCY_MISMATCH'
    if (player.kycStatus !== 'aprovado') return 'KYC_NOT_APPROVED'
    return withdrawable(player) < amount ? 'INSUFFICIENT_FUNDS' : 'done'
  }

  requested(id: string, player: BookedPlayer, amount: bigint): void {
    player.held += amount
    this.withdrawals.push({ id, player, amount, status: 'under_review', approvedBy: null })
  }

  cancels(withdrawal: BookedWithdrawal): Outcome {
    if (withdrawal.status !== 'under_review') return 'WITHDRAWAL_NOT_CANCELLABLE'
    this.#ends(withdrawal, 'cancelled')
    return 'done'
  }

  /** @param by the person of the team; in the sandbox nobody */
  decides(withdrawal: BookedWithdrawal, decision: Decision, by: string | null): Outcome {
    const from = decision === 'approve' || decision === 'reject' ? 'under_review' : 'approved'
    if (withdrawal.status !== from) return 'WITHDRAWAL_INVALID_STATE'
    if (decision === 'pay' && by !== null && withdrawal.approvedBy === by) return 'TWO_PEOPLE_REQUIRED'
    const fails = decision === 'fail' || (this.isSandbox && withdrawal.amount === failingWithdrawal)
    if (decision === 'approve') Object.assign(withdrawal, { status: 'approved', approvedBy: by })
    else if (decision === 'reject') this.#ends(withdrawal, 'rejected')
    else this.#ends(withdrawal, fails ? 'failed' : 'paid')
    return 'done'
  }

  #ends(withdrawal: BookedWithdrawal, status: BookedWithdrawal['status']): void {
    const { player, amount, id } = withdrawal
    withdrawal.status = status
    player.held -= amount
    if (status === 'paid') player.entries.push({ type: 'WITHDRAWAL', amount: -amount, cause: id })
  }

  admitsToPlay(player: BookedPlayer, now: number): Outcome {
    if (this.isExcluded(player, now)) return 'RG_BLOCKED'
    if (player.status !== 'ativo') return 'PLAYER_NOT_ACTIVE'
    if (player.kycStatus !== 'aprovado') return 'KYC_NOT_APPROVED'
    const limit = this.limitOf(player, now)
    return limit !== null && this.dayTotal(player, now) > limit ? 'RG_BLOCKED' : 'done'
  }
}
