import { join } from 'node:path'
import { type Operation, operations, type Rejection } from '@backoffice/contracts'
import { identityEnvironment, identitySettings, startIdentityProvider } from '@backoffice/dev-stack'
import { gateway } from '@backoffice/gateway'
import { payments } from '@backoffice/payments'
import { temporaryFolder, testBed } from '@backoffice/test-kit'
import { noBrowser, startBrowser } from '@backoffice/test-kit/browser'
import { wallet } from '@backoffice/wallet'
import t from 'tap'
import { consoleBed } from './console-bed.ts'

t.test('a service gives money and keys to no login without the second factor that it is told', async (t) => {
  const strong = { TEAM_STRONG_ACR: 'phr', TEAM_STRONG_AMR: 'hwk,mfa' }
  const bed = await testBed(
    t,
    { wallet, payments, gateway },
    { config: { wallet: strong, payments: strong, gateway: strong } },
  )
  const refusal = (operation: Operation, input: object, amr: readonly string[]) =>
    bed
      .team('alice', { claims: { acr: 'phr', amr } })
      .call(operation, { input: input as never })
      .then(
        () => undefined,
        ({ code, details }: Rejection) => ({ code, lacking: details?.lacking }),
      )
  const environment = 'production'
  const correction = { playerId: 'ply_1', amount: '5.00', reference: 'ticket-1', reason: 'goodwill' }
  const shown = { amount: '5.00', currency: 'BRL', destinationDigest: 'a'.repeat(43), playerId: 'ply_1' }
  for (const [operation, input] of [
    [operations.wallet.adjustWallet, { ...correction, seen: { operatorId: 'op_1', environment, currency: 'BRL' } }],
    [operations.payments.decideWithdrawal, { decision: 'pay', withdrawalId: 'wdr_1', ...shown }],
    [operations.gateway.issueCredential, { operatorId: 'op_1', environment, seen: { name: 'Casa Azul' }, reason: 'r' }],
  ] as const) {
    const lacking = { amr: ['hwk', 'mfa'] }
    t.same(await refusal(operation, input, ['pwd']), { code: 'FRESH_LOGIN_REQUIRED', lacking }, operation.id)
    t.match(
      await refusal(operation, input, ['pwd', 'mfa']),
      { code: /_NOT_FOUND$|^AWAITS_APPROVAL$/ },
      'it is looked at',
    )
  }
})

t.test('the console leads through the stronger login, and tells the command line', { skip: noBrowser }, async (t) => {
  const dir = temporaryFolder(t)
  const secret = 'secret-of-the-console'
  const file = join(dir, 'identity.json')
  const identity = await identitySettings(file, secret)
  const provider = await startIdentityProvider(file, identity, join(dir, 'identity.log'))
  t.teardown(() => provider.stop())
  const { url, port } = identity.console
  const bed = await consoleBed(
    t,
    { CONSOLE_URL: url, CONSOLE_PORT: String(port), CONSOLE_CLIENT_SECRET: secret },
    { ...identityEnvironment(identity.issuer, url), TEAM_STRONG_ACR: 'confirmed' },
    { gateway },
  )
  t.match(await (await fetch(`${bed.url}/cli`)).json(), {
    strongLogin: { acrClaim: 'acr', acr: ['confirmed'], amr: [] },
  })
  const player = await bed.newPlayer('sandbox')
  const page = await (await (await startBrowser(t)).newContext({ locale: 'en-GB' })).newPage()
  await page.goto(`${bed.url}/sandbox/players/${player}`)
  await page.click('button.good')
  await page.click('button[value=felipe]')
  await page.waitForURL(`**/players/${player}`)
  const form = page.locator('details.decision', { hasText: 'Adjust the balance' })
  await form.locator('summary').click()
  t.match(await form.textContent(), 'a second factor')
  await form.locator('a.button').click()
  await page.waitForSelector('h1:has-text("Log in once more")')
  await page.check('input[name=confirmed]')
  await page.click('button[value=felipe]')
  await page.waitForURL(`**/players/${player}**`)
  await form.locator('summary').click()
  await form.locator('input[name=amount]').fill('5.00')
  await form.locator('input[name=reference]').fill('ticket-1')
  await form.locator('[name=reason]').fill('goodwill')
  await form.locator('button').click()
  await page.waitForSelector('.notice.done')
})
