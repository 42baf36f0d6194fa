import { operations } from '@backoffice/contracts'
import { payments } from '@backoffice/payments'
import { players } from '@backoffice/players'
import { newPlayer, reconcile, seenSubmission, TestTime, testBed } from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import t from 'tap'
import { reconciler } from '../../src/service.ts'

// A call and what it changed are told by the operation, never by the moment, which one person's calls can share.
const bed = await testBed(
  t,
  { players, wallet, payments, reconciler },
  { time: new TestTime(new Date('2026-03-02T15:00:00.000Z')) },
)
const { registerPlayer, decideKyc, setPlayerStatus, selfExcludePlayer } = operations.players
const scope = bed.scope({ environment: 'production' })
const reason = 'asked for'

const register = async (): Promise<string> => (await bed.rpc.call(registerPlayer, { scope, input: newPlayer() })).id

t.test('what one person does twice in one millisecond is nobody’s difference', async (t) => {
  const [bob, excluded, decided, set] = [bed.team('bob'), await register(), await register(), await register()]
  for (const until of ['2026-03-05T23:00:00.000Z', null])
    await bob.call(selfExcludePlayer, { input: { playerId: excluded, until, reason } })
  for (const status of ['aprovado', 'reprovado', 'aprovado'] as const)
    await bed.team('carol').call(decideKyc, {
      input: { ...(await seenSubmission(bed.team('carol'), decided)), status, reason },
    })
  for (const status of ['bloqueado', 'autoexcluido'] as const)
    await bob.call(setPlayerStatus, { input: { playerId: set, status, reason } })
  // Who is excluded is let back in by two, and was blocked before by one.
  for (const status of ['ativo', 'bloqueado', 'ativo'] as const)
    await bed.agreed(setPlayerStatus, { input: { playerId: set, status, reason } })
  for (let run = 0; run < 2; run++) t.same((await reconcile(bed.team('alice'))).differences, [])
})
