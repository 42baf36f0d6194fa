// What an operator's server does for one player, from the registration to a paid withdrawal. Each effect has a key that
// names it, made from our own identifiers. The client retries under that key, and so does a second run of this program:
// within 24 hours of a crash or a lost answer it repeats no effect.
import { BackOfficeClient, BackOfficeError, ConnectionError, type Player, type Withdrawal } from '@backoffice/client'
import { setting } from './settings.ts'

const externalId = process.argv[2] ?? 'ana-1'
const once = (effect: string) => ({ idempotencyKey: `${externalId}:${effect}` })
const backOffice = new BackOfficeClient({
  baseUrl: setting('BASE_URL'),
  key: setting('OPERATOR_KEY'),
  secret: setting('OPERATOR_SECRET'),
})

async function registerPlayer(): Promise<Player> {
  const player = { externalId, name: 'Ana Souza', email: 'ana@example.com', cpf: '529.982.247-25' }
  try {
    return await backOffice.registerPlayer({ ...player, birthDate: '1990-05-17' }, once('register'))
  } catch (error) {
    // A key is remembered for 24 hours; the player is there for longer.
    if (!(error instanceof BackOfficeError && error.code === 'PLAYER_ALREADY_EXISTS')) throw error
    const existing = await backOffice.findPlayer(externalId)
    if (existing === null) throw error
    return existing
  }
}

/** In the sandbox we decide in the team's place. Decisions take no key, so what is decided already is read first. */
async function decideInSandbox({ id }: Withdrawal): Promise<void> {
  const { status } = await backOffice.getWithdrawal(id)
  if (status === 'under_review') await backOffice.decideWithdrawal(id, 'approve')
  if (status === 'under_review' || status === 'approved') await backOffice.decideWithdrawal(id, 'pay')
}

async function serve(): Promise<void> {
  const { operator, brand } = await backOffice.me()
  const isSandbox = operator.environment === 'sandbox'
  const { id: playerId } = await registerPlayer()
  console.log(`player ${playerId} of ${operator.name}, ${operator.environment}`)

  if ((await backOffice.getKyc(playerId)).kycStatus !== 'aprovado') {
    await backOffice.submitKyc(playerId, { documentType: 'rg', reference: `${externalId}-rg` }, once('submit-kyc'))
    if (isSandbox) await backOffice.decideKyc(playerId, 'aprovado')
  }
  console.log(`kyc ${(await backOffice.getKyc(playerId)).kycStatus}`)

  const terms = { currency: brand.currency, method: 'pix' }
  const payment = { ...terms, amount: '150.00', externalReference: `${externalId}-payment-1` }
  const deposit = await backOffice.createDeposit(playerId, payment, once('deposit-1'))
  // Here our own payment provider collects the money; the wallet is credited by the confirmation.
  const { status } = await backOffice.confirmDeposit(deposit.id, once('deposit-1-confirm'))
  console.log(`deposit ${deposit.id} ${status}`)

  const payout = { ...terms, amount: '40.00', destination: 'ana@example.com' }
  const withdrawal = await backOffice.requestWithdrawal(playerId, payout, once('withdrawal-1'))
  if (isSandbox) await decideInSandbox(withdrawal)
  console.log(`withdrawal ${withdrawal.id} ${(await backOffice.getWithdrawal(withdrawal.id)).status}`)
  const { available, withdrawable } = await backOffice.getWallet(playerId)
  console.log(`wallet ${available} ${brand.currency}, of which ${withdrawable} can be withdrawn`)
}

try {
  await serve()
} catch (error) {
  if (!(error instanceof BackOfficeError || error instanceof ConnectionError)) throw error
  if (error.final) {
    console.error(`Refused: ${error.message} (request: ${error.requestId})`)
    process.exitCode = 1
  } else {
    // Also a refusal that came before the key was looked up: a former run may have had the effect.
    const key = error.idempotencyKey ?? 'none'
    console.error(`Not known whether it was done: ${error.message} (key: ${key}). Run this again.`)
    process.exitCode = 75
  }
}
