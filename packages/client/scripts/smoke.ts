// npm run smoke: an operator's way through the API, at any address: what it saw, and an exit code. Of a cluster it is the
// first probe.
import { randomInt, randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import { isCpf } from '@backoffice/contracts/formats'
import { readStack } from '@backoffice/local-stack'
import { BackOfficeClient } from '../src/client.ts'
import { BackOfficeError } from '../src/errors.ts'

const usage = `npm run smoke -- [--read-only]

Goes an operator's way through the sandbox: a player, an identity check, a deposit, a webhook, a withdrawal that is paid.
Prints what it saw, and ends with 0 if all was right, with 1 if something was not, with 2 if it was not begun.

  BASE_URL         with /api/v1; that of npm start when none of the three is set
  OPERATOR_KEY     of the sandbox
  OPERATOR_SECRET
  --read-only      reads alone: the one way with a key of production`

interface Settings {
  readonly baseUrl: string
  readonly key: string
  readonly secret: string
  readonly readOnly: boolean
}

/** @throws what is wrong, before anything is sent */
function settingsFrom(args: readonly string[]): Settings | undefined {
  const flag = { type: 'boolean', default: false } as const
  const { values } = parseArgs({ args: [...args], options: { 'read-only': flag, help: { ...flag, short: 'h' } } })
  if (values.help) return undefined
  const { BASE_URL: baseUrl, OPERATOR_KEY: key, OPERATOR_SECRET: secret } = process.env
  const readOnly = values['read-only']
  if (baseUrl === undefined && key === undefined && secret === undefined) {
    const { operators, ...stack } = readStack()
    return { baseUrl: stack.baseUrl, key: '', secret: '', ...operators[0]?.sandbox, readOnly }
  }
  if (!baseUrl || !key || !secret)
    throw new Error('BASE_URL, OPERATOR_KEY and OPERATOR_SECRET belong together: one is not set')
  if (key.startsWith('bk_live_') && !readOnly)
    throw new Error('This key is of production, where deposits are real: only with --read-only')
  if (!/^bk_(test|live)_/.test(key)) throw new Error('The key is no operator’s: it begins with bk_test_')
  return { baseUrl, key, secret, readOnly }
}

/** A CPF of its own: who shares one is the same person, and may be self-excluded. */
function newCpf(): string {
  const digits = String(randomInt(1e9)).padStart(9, '0')
  const numbers = Array.from({ length: 100 }, (_, check) => `${digits}${String(check).padStart(2, '0')}`)
  return numbers.find(isCpf) ?? newCpf()
}

/** Each step: what is done, and what was seen. */
async function* journey(
  client: BackOfficeClient,
  readOnly: boolean,
): AsyncGenerator<readonly [what: string, seen: string]> {
  const { operator, brand, apiVersion } = await client.me()
  const { environment, name } = operator
  yield ['the signature is accepted', `${name}, ${environment}, ${brand.currency}, API ${apiVersion}`]
  if (!readOnly && environment !== 'sandbox') throw new Error(`the key is of ${environment}`)
  // Whoever tidies a path on the way breaks its signature.
  await client.findPlayer('smoke.//a b')
  const nobody = client.getWallet('..//a b').then(
    () => 'somebody',
    ({ code }: BackOfficeError) => code,
  )
  yield ['path and query arrive as signed', expected(await nobody, 'VALIDATION_ERROR')]
  yield ['the games are listed', `${(await client.listGames()).length}`]
  if (readOnly) return
  const person = { name: 'João Smoke', email: 'smoke@example.com', birthDate: '1990-05-17' }
  const { id } = await client.registerPlayer({ ...person, externalId: `smoke-${randomUUID()}`, cpf: newCpf() })
  yield ['a player is registered', id]
  const { kycStatus } = await client.submitKyc(id, { documentType: 'rg', reference: 'smoke' })
  yield ['a document is submitted', kycStatus]
  yield ['the identity is approved', expected((await client.decideKyc(id, 'aprovado')).kycStatus, 'aprovado')]
  const terms = { currency: brand.currency, method: 'pix' }
  const deposit = await client.createDeposit(id, {
    ...terms,
    amount: '150.00',
    externalReference: `smoke-${randomUUID()}`,
  })
  yield ['a deposit is created', expected(deposit.status, 'pending')]
  yield ['the deposit is confirmed', expected((await client.confirmDeposit(deposit.id)).status, 'confirmed')]
  yield ['the wallet is credited', expected((await client.getWallet(id)).available, '150.00')]
  yield ['a webhook is delivered', await webhook(client)]
  const payout = { ...terms, amount: '40.00', destination: 'smoke@example.com' }
  const withdrawal = await client.requestWithdrawal(id, payout)
  yield ['a withdrawal is requested', expected(withdrawal.status, 'under_review')]
  for (const [decision, status] of [
    ['approve', 'approved'],
    ['pay', 'paid'],
  ] as const)
    yield [
      `the withdrawal is ${status}`,
      expected((await client.decideWithdrawal(withdrawal.id, decision)).status, status),
    ]
  yield ['the wallet is debited', expected((await client.getWallet(id)).available, '110.00')]
  const types: string[] = []
  for await (const { type } of client.transactions(id)) types.push(type)
  yield ['the statement has both', expected(types.join(', '), 'WITHDRAWAL, DEPOSIT')]
}

function expected(seen: string, right: string): string {
  if (seen !== right) throw new Error(`it is ${seen}, not ${right}`)
  return seen
}

async function webhook(client: BackOfficeClient): Promise<string> {
  try {
    const { delivered, responseStatus, error } = await client.testWebhook()
    if (!delivered) throw new Error(`it was not delivered: ${error ?? `the answer was ${responseStatus}`}`)
    return `the answer was ${responseStatus}`
  } catch (error) {
    if (error instanceof BackOfficeError && error.code === 'WEBHOOK_NOT_CONFIGURED') return 'not tried: there is no URL'
    throw error
  }
}

async function main(): Promise<number> {
  const say = (text: string) => process.stdout.write(`${text}\n`)
  let settings: Settings | undefined
  try {
    settings = settingsFrom(process.argv.slice(2))
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    return 2
  }
  if (settings === undefined) {
    say(usage)
    return 0
  }
  const { readOnly, ...address } = settings
  const client = new BackOfficeClient({ ...address, attemptsMax: 1, timeoutMs: 10_000 })
  const began = performance.now()
  let [count, last] = [0, began]
  try {
    for await (const [what, seen] of journey(client, readOnly)) {
      const now = performance.now()
      say(`ok ${`${Math.round(now - last)}`.padStart(6)} ms  ${what.padEnd(34)}${seen}`)
      last = now
      count += 1
    }
  } catch (error) {
    const { requestId } = error as { readonly requestId?: string }
    say(`FAILED after ${count} steps: ${(error as Error).message}${requestId ? ` (${requestId})` : ''}`)
    return 1
  }
  say(`\n${count} steps were right, in ${((performance.now() - began) / 1000).toFixed(1)} s, at ${address.baseUrl}`)
  return 0
}

process.exitCode = await main()
