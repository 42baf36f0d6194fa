/** What each id prefix stands for. Ids are opaque: nobody interprets or orders them. */
const idPrefixes = {
  op: 'operator',
  brd: 'brand',
  crd: 'credential',
  ply: 'player',
  kyc: 'KYC submission',
  ses: 'game session',
  prv: 'provider of games',
  rnd: 'round',
  pla: 'play: a bet, a win or a rollback',
  dep: 'deposit',
  wdr: 'withdrawal',
  led: 'ledger entry',
  trf: 'transfer',
  evt: 'event',
  dlv: 'webhook delivery',
  aud: 'audit entry',
  prp: 'proposal',
} as const
export type IdPrefix = keyof typeof idPrefixes
