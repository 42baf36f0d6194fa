import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { operations } from '@backoffice/contracts'
import { eventually, refusal } from '@backoffice/test-kit'
import t from 'tap'
import { moneyPath } from '../money-path.ts'

const main = fileURLToPath(new URL('../../../wallet/src/main.ts', import.meta.url))
const path = await moneyPath(t)
const { bed, scope } = path

t.test('with one of two replicas of the wallet frozen, every read and every confirmation is answered', async (t) => {
  const calls = Array.from({ length: 20 }, (_, index) => index)
  const playerIds = await Promise.all(calls.map(() => path.newPlayer()))
  const deposits = await Promise.all(playerIds.map((playerId) => path.createDeposit(playerId)))

  const replica = spawn(process.execPath, [main], {
    env: { ...process.env, ...bed.environment('wallet'), LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => replica.kill('SIGKILL'))
  let logged = ''
  replica.stdout.on('data', (chunk) => {
    logged += chunk
  })
  await eventually(() => logged.includes('"started"'), 30_000)
  replica.kill('SIGSTOP')

  const { getWallet } = operations.wallet
  const outcomes = await Promise.all([
    ...deposits.map(({ id }) => refusal(path.confirm(id))),
    ...playerIds.map((playerId) => refusal(bed.rpc.call(getWallet, { scope, input: { playerId } }))),
  ])
  t.same(outcomes, Array(40).fill(null))
  t.same(new Set(await Promise.all(playerIds.map((playerId) => path.balance(playerId)))), new Set(['10.00 / 10.00']))
})
